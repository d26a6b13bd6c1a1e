/** What we use of packages that bring no types. */
declare module 'npm-registry-fetch' {
  export interface RegistryResponse {
    readonly status: number;
    readonly headers: { get(name: string): string | null };
    readonly body: AsyncIterable<Buffer> & { on(event: 'error', listener: (error: Error) => void): unknown };
  }

  /** Settings by npm's names in camelCase, such as `strictSSL`, and scopes and credentials by the keys of `.npmrc`. */
  export type RegistryOptions = Readonly<Record<string, unknown>>;

  function registryFetch(address: string, options: RegistryOptions): Promise<RegistryResponse>;
  namespace registryFetch {
    function json(address: string, options: RegistryOptions): Promise<unknown>;
    function pickRegistry(packageName: string, options?: RegistryOptions): string;
  }
  // biome-ignore lint/style/noDefaultExport: the package has this one export
  export default registryFetch;
}

declare module 'ini' {
  export function parse(text: string): Record<string, unknown>;
}
