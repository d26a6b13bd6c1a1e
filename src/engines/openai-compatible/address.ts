/** Where an engine's routes are, worked out once from the `url` of its configuration. */
export interface Address {
  readonly origin: string;
  /** The path that the OpenAI routes stand under: `/v1`. */
  readonly api: string;
  /** The path that the engine's own routes stand under: empty for the server's root. */
  readonly root: string;
}

/**
 * `http://host:8000` means `http://host:8000/v1`. An address with a path is taken as it is, because not every
 * service calls its version 1; the engine's own routes are then beside its `v1`, or under the path itself.
 */
export function toAddress(url: string): Address {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  if (path === '') return { origin, api: '/v1', root: '' };
  return { origin, api: path, root: path.replace(/\/v1$/, '') };
}
