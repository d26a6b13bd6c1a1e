/**
 * Reads a multipart form: its files, and its fields as the object that a JSON body would have been. SDKs
 * flatten structure into bracket keys (`frame_images[][image_url][url]`), send structured fields as JSON
 * strings, and numbers and booleans as text; the schema says which is meant.
 */
import { Busboy } from '@fastify/busboy';
import type { TSchema } from 'typebox';
import { GatewayError } from '../lib/errors.ts';
import type { ServerRequest } from '../lib/http1/server/request.ts';
import { quoted, shown } from '../lib/quoted.ts';
import { release } from '../lib/release.ts';
import type { Platform } from '../platform/index.ts';
import { toBrokenBody } from './broken-body.ts';
import { createFileStore } from './file-store.ts';
import type { ParsedBody, Route } from './route.ts';
import { fromText, itemSchema, propertySchema } from './text-values.ts';
import { tooLarge } from './too-large.ts';

type Form = NonNullable<Route['multipart']>;

const maxFields = 500;
const defaultMaxFieldBytes = 1024 * 1024;

export interface FormParts {
  readonly form: Form;
  readonly maxBodyBytes: number;
  readonly platform: Platform;
}

export function readMultipart(
  request: ServerRequest,
  { form, maxBodyBytes, platform }: FormParts,
): Promise<ParsedBody> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const counts = new Map<string, number>();
    const { maxFieldBytes = defaultMaxFieldBytes, maxTotalBytes = maxBodyBytes } = form;
    const files = createFileStore({
      platform,
      maxTotalBytes,
      onFull(isFull) {
        if (isOver) return;
        if (isFull) request.pause();
        else request.resume();
      },
    });
    let size = 0;
    let fieldBytes = 0;
    let isOver = false;
    // Where files go to storage, the body's limit is theirs, and says nothing of what may stand in memory.
    const maxFieldsBytes = isStoring(form) ? maxFieldBytes : maxBodyBytes;
    const fail = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      parser.removeAllListeners();
      parser.on('error', () => {});
      void files.discard().then(() => {
        // What is left of the form is read away, or the connection's next request would never be read.
        request.resume();
        reject(error);
      });
    };
    const malformed = (cause: unknown) => fail(toMalformed(cause));

    let parser: InstanceType<typeof Busboy>;
    try {
      parser = new Busboy({
        headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
        limits: { fields: maxFields, fieldSize: maxFieldBytes, files: totalFiles(form) + 1 },
        isPartAFile: (_field, contentType, filename) =>
          filename !== undefined || contentType === 'application/octet-stream',
      });
    } catch (cause) {
      reject(toMalformed(cause));
      return;
    }
    parser.on('field', (name: string | undefined, value, nameCut, valueCut) => {
      if (name === undefined) fail(new GatewayError('invalid_request', 'A part of the form has no name'));
      else if (nameCut || valueCut) fail(tooLarge(`The field ${quoted(name)}`, maxFieldBytes));
      else {
        fieldBytes += Buffer.byteLength(value);
        if (fieldBytes > maxFieldsBytes) fail(tooLarge('The sum of the fields', maxFieldsBytes));
        else fields.push([name, value]);
      }
    });
    parser.on('file', (name: string | undefined, stream, sentName) => {
      const refuse = (message: string, param?: string) => {
        stream.resume();
        fail(new GatewayError('invalid_request', message, param === undefined ? {} : { param }));
      };
      if (name === undefined) {
        refuse('A file of the form has no name');
        return;
      }
      const field = name.replace(/\[\d*\]$/, '');
      const declared = form.files[field];
      if (declared === undefined) {
        refuse(`${shown(field)} is not a file that this route takes`, shown(field));
        return;
      }
      const count = (counts.get(field) ?? 0) + 1;
      counts.set(field, count);
      if (count > declared.maxCount) {
        refuse(`${field} must have at most ${declared.maxCount} files`, field);
        return;
      }
      files.take({ field, filename: sentName ?? '', content: stream, spec: declared }, fail);
    });
    parser.on('fieldsLimit', () =>
      fail(new GatewayError('invalid_request', `The form has more than ${maxFields} fields`)),
    );
    parser.on('filesLimit', () => fail(new GatewayError('invalid_request', 'The form has too many files')));
    parser.on('error', malformed);
    parser.on('finish', () => {
      files
        .taken()
        .then((taken) => {
          const body = checkForm(fields, new Set(counts.keys()), form);
          if (isOver) return;
          isOver = true;
          resolve({ body, ...taken });
        })
        .catch(fail);
    });
    request.read({
      onData(piece) {
        if (isOver) return;
        size += piece.length;
        if (size > maxBodyBytes) fail(tooLarge('The body', maxBodyBytes));
        // Files copy what they are given, at the latest in the next tick.
        else parser.write(piece, () => setImmediate(release, piece));
      },
      onEnd() {
        if (!isOver) parser.end();
      },
      onBroken: (why) => fail(toBrokenBody(why)),
    });
  });
}

function toMalformed(cause: unknown): GatewayError {
  return new GatewayError('invalid_request', `The multipart body is malformed: ${(cause as Error).message}`, {
    cause,
  });
}

function isStoring({ files }: Form): boolean {
  return Object.values(files).some(({ storeAt }) => storeAt !== undefined);
}

function totalFiles(form: Form): number {
  return Object.values(form.files).reduce((sum, file) => sum + file.maxCount, 0);
}

function checkForm(
  fields: readonly (readonly [string, string])[],
  files: ReadonlySet<string>,
  form: Form,
): unknown {
  const body = toObject(fields, form.validator.schema);
  for (const [field, { required }] of Object.entries(form.files)) {
    if (required === true && !files.has(field)) {
      throw new GatewayError('invalid_request', `${field} is required`, { param: field });
    }
  }
  if (!form.validator.check(body)) {
    const { path, message } = form.validator.problem(body);
    throw new GatewayError('invalid_request', `${path} ${message}`, { param: path });
  }
  return body;
}

/** `[['a[][b]', '1'], ['a[][b]', '2']]` as `{a: [{b: 1}, {b: 2}]}`: a repeated leaf starts a new element. */
export function toObject(
  fields: readonly (readonly [string, string])[],
  schema: TSchema,
): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null);
  for (const [name, text] of fields) {
    const keys = toKeys(name);
    if (keys === undefined)
      throw new GatewayError('invalid_request', `${shown(name)} is not a readable field name`, {
        param: shown(name),
      });
    place(root, keys, text, schema);
  }
  return { ...root };
}

/** `a[b][]` as `['a', 'b', '']`. */
function toKeys(name: string): string[] | undefined {
  const head = /^[^[\]]+/.exec(name)?.[0];
  if (head === undefined) return undefined;
  const rest = name.slice(head.length);
  if (!/^(?:\[[^[\]]*\])*$/.test(rest)) return undefined;
  const keys = [head, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map((match) => match[1]!)];
  return keys.length > 16 || keys.includes('__proto__') ? undefined : keys;
}

type Node = Record<string, unknown> | unknown[];

function place(node: Node, keys: readonly string[], text: string, schema: TSchema | undefined): void {
  const [key = '', ...rest] = keys;
  if (Array.isArray(node)) placeInArray(node, rest, text, itemSchema(schema));
  else {
    const inner = propertySchema(schema, key);
    if (rest.length === 0) {
      const value = fromText(text, inner);
      const earlier = node[key];
      // A plain field sent twice is a list (`stop=a&stop=b`).
      node[key] =
        earlier === undefined ? value : Array.isArray(earlier) ? [...earlier, value] : [earlier, value];
    } else {
      const isList = rest[0] === '' || /^\d+$/.test(rest[0] ?? '');
      let child = node[key];
      if (typeof child !== 'object' || child === null) {
        child = isList ? [] : Object.create(null);
        node[key] = child;
      }
      place(child as Node, rest, text, inner);
    }
  }
}

/** `keys` is what follows the element's own bracket. */
function placeInArray(
  list: unknown[],
  keys: readonly string[],
  text: string,
  item: TSchema | undefined,
): void {
  if (keys.length === 0) {
    list.push(fromText(text, item));
    return;
  }
  const last = list.at(-1);
  if (typeof last === 'object' && last !== null && !has(last as Node, keys))
    place(last as Node, keys, text, item);
  else {
    const element: Record<string, unknown> = Object.create(null);
    list.push(element);
    place(element, keys, text, item);
  }
}

function has(node: Node, keys: readonly string[]): boolean {
  let at: unknown = node;
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return Array.isArray(at);
    at = (at as Record<string, unknown>)[key];
    if (at === undefined) return false;
  }
  return true;
}
