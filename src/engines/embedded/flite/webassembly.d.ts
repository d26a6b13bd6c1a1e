/** What we use of WebAssembly: Node has it, its types leave it to the browser's. */
declare namespace WebAssembly {
  class Module {
    private readonly compiled: true;
  }
  interface Memory {
    /** Another one after the memory has grown. */
    readonly buffer: ArrayBuffer;
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }
  type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Imports): Promise<Instance>;
}
