// What the WebAssembly module takes of memory.

/** For a page, before anything is loaded: the memory of its module becomes `window.moduleMemory`. */
export function keepMemory() {
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const load = WebAssembly[name];
    WebAssembly[name] = async (...from) => {
      const loaded = await load.apply(WebAssembly, from);
      const exported = Object.values((loaded.instance ?? loaded).exports);
      window.moduleMemory = exported.find((one) => one instanceof WebAssembly.Memory);
      return loaded;
    };
  }
}
