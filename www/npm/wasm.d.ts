/** The import of the WebAssembly module in a bundler that treats it as a file: its URL. */
declare const address: string;
export default address;
