// The memory of the WebAssembly module.

/** An init script that sets `window.moduleMemory` to the memory of the module. */
export function keepMemory() {
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const load = WebAssembly[name];
    WebAssembly[name] = async (...from) => {
      const loaded = await load.apply(WebAssembly, from);
      const exported = Object.values((loaded.instance ?? loaded).exports);
      // The deferred functions use the memory of the first module.
      window.moduleMemory = exported.find((one) => one instanceof WebAssembly.Memory) ?? window.moduleMemory;
      return loaded;
    };
  }
}
