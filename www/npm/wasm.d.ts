/** What a bundler says of the WebAssembly module: its address, where it is told to treat it as a file. */
declare const address: string;
export default address;
