/** Where a piece stands, in words: `README › Installing, page 3`. Pure. */
import type { PlaceUnit } from '../parts.ts';

export interface Span {
  readonly unit: PlaceUnit;
  readonly from: number;
  readonly to: number;
}

/** It is embedded with every piece, so it stays short beside it. */
const maxLength = 200;
const maxHeadingLength = 80;
/** Of files whose kind says nothing about what is in them. */
const plainExtension = /\.(?:md|markdown|mdx|rst|pdf|docx|pptx|xlsx|html?|xhtml|txt|text)$/i;

export function describePlace(filename: string, headings: readonly string[], span: Span | undefined): string {
  const name = filename.replace(plainExtension, '') || filename;
  const parts = [name, ...headings]
    .map((part) => shorten(part, maxHeadingLength))
    .filter((part) => part !== '');
  // The outer ones go first, but never the file's name.
  while (parts.length > 2 && joined(parts).length > maxLength) parts.splice(1, 1);
  return joined(parts) + (span === undefined ? '' : `, ${toWords(span)}`);
}

function joined(parts: readonly string[]): string {
  return parts.join(' › ');
}

function toWords({ unit, from, to }: Span): string {
  return from === to ? `${unit} ${from}` : `${unit}s ${from}–${to}`;
}

function shorten(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}
