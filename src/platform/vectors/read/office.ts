/** The parts of an Office document: XML files in an archive, unpacked and read bit by bit under one limit for all. */
import { createInflateRaw } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { type ZipEntry, zipEntries } from '../../attachments/zip-size.ts';
import type { Passage } from '../parts.ts';
import { invalid } from './refusal.ts';

/** What a part's tags and texts do. Names without their namespace. */
export interface PartHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

export interface Office {
  has(name: string): boolean;
  /** Reads a part to its end; a missing one is empty. `take` is asked for passages in between. */
  read(name: string, handler: PartHandler, take: () => Passage[]): AsyncGenerator<Passage>;
  /** The same, for what is only remembered. */
  scan(name: string, handler: PartHandler): Promise<void>;
  /** Where a part's relations lead, by their ids, and what kind each is of. */
  relations(name: string): Promise<ReadonlyMap<string, { readonly target: string; readonly type: string }>>;
}

const maxUnpackedBytes = 400e6;
const maxDepth = 1_000;
/** Of one tag: those of real documents have a few dozen names at most. */
const maxAttributes = 1_000;

export function openOffice(bytes: Buffer): Office {
  const entries = new Map<string, ZipEntry>();
  for (const entry of zipEntries(bytes)) entries.set(entry.name, entry);
  let left = maxUnpackedBytes;

  async function* read(name: string, handler: PartHandler, take: () => Passage[]): AsyncGenerator<Passage> {
    const entry = entries.get(name);
    if (entry === undefined) return;
    const parser = createXmlParser(handler);
    const decoder = new TextDecoder();
    for await (const chunk of unpack(entry)) {
      left -= chunk.length;
      if (left < 0)
        throw invalid(
          `The document unpacks to more than ${maxUnpackedBytes / 1e6} MB: split it, or save it anew if it should be smaller`,
        );
      parser.write(decoder.decode(chunk, { stream: true }));
      yield* take();
    }
    parser.end();
    yield* take();
  }

  async function scan(name: string, handler: PartHandler): Promise<void> {
    for await (const _ of read(name, handler, () => []));
  }

  return {
    has: (name) => entries.has(name),
    read,
    scan,
    async relations(name) {
      const found = new Map<string, { target: string; type: string }>();
      const slash = name.lastIndexOf('/');
      const folder = name.slice(0, slash);
      await scan(`${folder}/_rels/${name.slice(slash + 1)}.rels`, {
        open(tag, { Id, Target, Type }) {
          if (tag !== 'Relationship' || Id === undefined || Target === undefined) return;
          found.set(Id, {
            target: toPath(folder, Target),
            type: Type?.slice(Type.lastIndexOf('/') + 1) ?? '',
          });
        },
      });
      return found;
    },
  };
}

function createXmlParser({ open, close, text }: PartHandler): Parser {
  let depth = 0;
  let attributeCount = 0;
  return new Parser(
    {
      onopentagname() {
        attributeCount = 0;
      },
      onattribute() {
        if (++attributeCount > maxAttributes)
          throw invalid('The document has a tag with too many attributes: save it anew and send it again');
      },
      onopentag(name, attributes) {
        if (++depth > maxDepth)
          throw invalid('The document is nested too deep: save it anew and send it again');
        open?.(localName(name), attributes);
      },
      onclosetag(name) {
        depth--;
        close?.(localName(name));
      },
      ontext: (value) => text?.(value),
    },
    { xmlMode: true },
  );
}

async function* unpack({ method, packed }: ZipEntry): AsyncGenerator<Buffer> {
  if (method === 0) {
    yield packed;
    return;
  }
  const inflate = createInflateRaw();
  inflate.end(packed);
  yield* inflate;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Relations name their targets from the part's folder, or from the root with a slash. */
function toPath(folder: string, target: string): string {
  return new URL(target, `file:///${folder}/`).pathname.slice(1);
}
