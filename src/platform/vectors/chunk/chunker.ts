/**
 * Cuts passages into pieces that an embedding model reads whole. Pure, and the same passages always give the same
 * pieces: an ingest that was interrupted goes on behind the pieces it has saved.
 *
 * Passages under the same headings share a piece as long as they fit; a new heading begins a new one, unless what
 * stands before it is a mere line. Where a section has to be cut, prose repeats its last sentences in the next piece,
 * so that what refers back is understood, and a table repeats its header.
 */
import type { Chunk, Passage } from '../parts.ts';
import { describePlace, type Span } from './describe.ts';
import { type Form, lastSentences, splitText } from './split.ts';
import { weightOf } from './weigh.ts';

export interface Chunker {
  /** The pieces that are complete now. */
  push(passage: Passage): Chunk[];
  /** The rest. */
  end(): Chunk[];
}

export interface ChunkLimits {
  /** Of a piece's text, as `weigh.ts` counts: 1,400 are about 350 tokens of the 512 that small models read. */
  max: number;
  /** Of what is repeated from the piece before. */
  overlap: number;
  /** A section of less shares a piece with the next one. */
  tiny: number;
}

export const chunkLimits: ChunkLimits = { max: 1_400, overlap: 160, tiny: 120 };

/** The piece that is being filled. */
interface Group {
  headings: readonly string[];
  form: Form;
  text: string;
  weight: number;
  span: Span | undefined;
  /** Whether it holds more than what it repeats. */
  isOwn: boolean;
}

export function createChunker(filename: string, limits: ChunkLimits = chunkLimits): Chunker {
  const { max, overlap, tiny } = limits;
  let group: Group | undefined;

  function toChunk({ headings, text, span }: Group): Chunk {
    return { text: text.trimEnd(), description: describePlace(filename, headings, span) };
  }

  function close(): Chunk[] {
    const closed = group;
    group = undefined;
    return closed?.isOwn === true ? [toChunk(closed)] : [];
  }

  /** A group that goes on where the section was cut. */
  function goOn(before: Group, form: Form, repeated: string | undefined): void {
    const start =
      form === 'prose' && before.form === 'prose'
        ? lastSentences(before.text, overlap)
        : repeatedHead(repeated, overlap);
    const { headings } = before;
    group = { headings, form, text: start, weight: weightOf(start), span: undefined, isOwn: false };
  }

  function append(text: string, passage: Passage, line: number): void {
    const form = passage.form ?? 'prose';
    const weight = weightOf(text);
    const span = toSpan(passage, line, text);
    if (group === undefined || (!group.isOwn && !fits(group, weight, form))) {
      group = { headings: passage.headings, form, text, weight, span, isOwn: true };
      return;
    }
    const joiner = joinerOf(group, form);
    group.text += joiner + text;
    group.weight += joiner.length + weight;
    group.form = form;
    group.span = joinSpans(group.span, span);
    group.isOwn = true;
  }

  function fits(into: Group, weight: number, form: Form): boolean {
    return into.weight + joinerOf(into, form).length + weight <= max;
  }

  /** Closes the group before a new section; a mere line goes into that section's piece instead. */
  function enterSection({ headings }: Passage): Chunk[] {
    if (group === undefined || isSame(group.headings, headings)) return [];
    const text = underHeadings(group, headings);
    const isTiny = group.isOwn && group.weight < tiny && text.length <= tiny * 2;
    if (!isTiny) return close();
    group = { ...group, headings, text, weight: weightOf(text) };
    return [];
  }

  function pushText(text: string, passage: Passage): Chunk[] {
    const form = passage.form ?? 'prose';
    const weight = weightOf(text);
    const closed = enterSection(passage);
    if (group !== undefined && isDefinition(group, text, form, max)) closed.push(...close());
    if (group === undefined ? weight <= max : fits(group, weight, form)) {
      append(text, passage, 0);
      return closed;
    }
    return closed.concat(pushCut(text, passage, form, weight));
  }

  /** What does not fit into the group: it begins a new one, or is cut when it is too long for one or would leave a small one. */
  function pushCut(text: string, passage: Passage, form: Form, weight: number): Chunk[] {
    const room = max - overlap;
    const filled = group?.isOwn === true ? group.weight + 2 : 0;
    const isMoved = filled > max / 3;
    const parts =
      weight <= max && isMoved
        ? [text]
        : splitText(text, form, room, isMoved || filled === 0 ? room : max - filled);
    const closed: Chunk[] = [];
    let line = 0;
    for (const [index, part] of parts.entries()) {
      // Code keeps its indentation; a part of prose begins with its first word.
      const shown = form === 'prose' ? part.trim() : part.trimEnd();
      if (shown !== '') {
        if (group?.isOwn === true && (index > 0 || !fits(group, weightOf(shown), form))) {
          const before = group;
          closed.push(...close());
          // The first part begins with its own header.
          goOn(before, form, index > 0 ? passage.repeated : undefined);
        }
        append(shown, passage, line);
      }
      line += part.split('\n').length - 1;
    }
    return closed;
  }

  return {
    push(passage) {
      const text = passage.text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
      return text.trim() === '' ? [] : pushText(text, passage);
    },
    end: close,
  };
}

/** Where a file of code is best cut: before something that stands at the margin, once there is enough. */
function isDefinition(group: Group, text: string, form: Form, max: number): boolean {
  return form === 'code' && group.form === 'code' && group.weight > max * 0.6 && !/^[\s})\]]/.test(text);
}

function joinerOf(group: Group, form: Form): string {
  if (group.text === '') return '';
  return group.form === 'rows' && form === 'rows' ? '\n' : '\n\n';
}

/** A header that is longer than this would leave no room for the rows. */
function repeatedHead(head: string | undefined, room: number): string {
  return head === undefined || weightOf(head) > room ? '' : head;
}

/** A line that shares a piece with the next section says which one it is from. */
function underHeadings({ text, headings }: Group, next: readonly string[]): string {
  const end = headings.findIndex((heading, index) => heading !== next[index]);
  return end < 0 ? text : `${headings.slice(end).join(' › ')}\n${text}`;
}

function toSpan({ place }: Passage, line: number, text: string): Span | undefined {
  if (place === undefined) return undefined;
  const { unit, at } = place;
  if (unit !== 'line') return { unit, from: at, to: at };
  return { unit, from: at + line, to: at + line + text.split('\n').length - 1 };
}

function joinSpans(first: Span | undefined, second: Span | undefined): Span | undefined {
  if (first === undefined || second === undefined || first.unit !== second.unit) return first ?? second;
  return { unit: first.unit, from: Math.min(first.from, second.from), to: Math.max(first.to, second.to) };
}

function isSame(first: readonly string[], second: readonly string[]): boolean {
  return first.length === second.length && first.every((heading, index) => heading === second[index]);
}
