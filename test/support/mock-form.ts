/** A multipart request to a mock engine, as any server would read it: so the tests do not depend on how we write it. */
import type { MockRequest } from './mock-engine.ts';

export async function formOf({ bytes, headers }: MockRequest) {
  const type = headers['content-type'] ?? '';
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, string> = {};
  const files: [field: string, name: string, type: string, bytes: Buffer][] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files.push([name, value.name, value.type, Buffer.from(await value.arrayBuffer())]);
  }
  return { fields, files };
}
