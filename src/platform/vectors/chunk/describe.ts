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
  // A title that says the same as the file's name says it once: `failure-drills`, `Failure drills`.
  const own = headings[0] !== undefined && isSameName(name, headings[0]) ? headings.slice(1) : headings;
  const parts = [name, ...own].map((part) => shorten(part, maxHeadingLength)).filter((part) => part !== '');
  // The outer ones go first, but never the file's name.
  while (parts.length > 2 && joined(parts).length > maxLength) parts.splice(1, 1);
  return joined(parts) + (span === undefined ? '' : `, ${toWords(span)}`);
}

function isSameName(name: string, title: string): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  return letters(name) === letters(title);
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
