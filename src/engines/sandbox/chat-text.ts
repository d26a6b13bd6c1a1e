/**
 * What the sandbox says: sentences about the subject, made up but well-formed. It understands a few plain wishes
 * (repeat this, count to ten, three ideas, 500 words, 17 * 3), which makes it handy for demonstrations and tests.
 */

import { countWords, type Media, type Subject } from './chat-subject.ts';
import { countTextTokens } from './chat-tokens.ts';
import type { Random } from './seed.ts';

const mostCounted = 10_000;
const mostWords = 20_000;
const mostItems = 100;
const quotedLength = 2_000;
/** A wish is short; looking for one in a book could take the time of a book squared. */
const wishLength = 2_000;

type Sentences = readonly [string, ...string[]];

const observations: Sentences = [
  'It helps to begin with the main idea and to leave the details for later.',
  'A good answer is short, says where it comes from and can be checked.',
  'Most people look at the costs first and at the benefits second.',
  'Two things matter here: what is known, and what is only assumed.',
  'A small experiment often teaches more than a long discussion.',
  'The simple version works well in many cases, and the exceptions are easy to name.',
  'It is worth comparing two or three ways before choosing one.',
  'What looks like a detail today can become the main question tomorrow.',
  'Experience shows that clear words prevent most misunderstandings.',
  'The order of the steps matters less than taking the first one.',
  'There is more than one view on this, and each has its reasons.',
  'If the numbers change, the conclusion should change with them.',
];

const deliberations: Sentences = [
  'First I should see what is really being asked.',
  'There are several ways to answer, so I compare them.',
  'The short way leaves something out, and the long way may bore the reader.',
  'I check whether anything was said earlier that changes the picture.',
  'One possible mistake would be to assume too much.',
  'A counter-example comes to mind, but it does not apply here.',
  'The numbers in the question seem consistent.',
  'It would help to name the most important point first.',
  'I look at it from the other side as well.',
  'So far nothing contradicts the first idea.',
];

const aspects: Sentences = [
  'A clear beginning',
  'A small first step',
  'An example from everyday life',
  'A careful comparison',
  'A second opinion',
  'A number that can be checked',
  'A surprise at the end',
  'A quiet moment to think',
  'A friendly reminder',
  'A plan for next week',
];

const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

export function answerText(subject: Subject, random: Random): string {
  if (subject.toolResults.length > 0) return reportResults(subject.toolResults);
  const wish = fulfilWish(subject, random);
  if (wish !== undefined) return wish;
  return [...subject.media.map(describeMedia), ...remarks(subject, random)].join(' ');
}

/** Thoughts of at least so many tokens, to the end of a sentence. */
export function thoughtText(subject: Subject, random: Random, tokens: number): string {
  let text = `The question is about “${subject.topic}”.`;
  for (let count = countTextTokens(text); count < tokens; ) {
    const sentence = ` ${random.pick(deliberations)}`;
    text += sentence;
    count += countTextTokens(sentence);
  }
  return text;
}

/** What goes on after a beginning: the rest of the answer that it is the beginning of, else something fitting. */
export function continuationText(beginning: string, answer: string, random: Random): string {
  const given = beginning.trimEnd();
  if (answer.startsWith(given) && answer.length > given.length) return answer.slice(given.length);
  if (/[.!?:…”"]$/.test(given)) return ` ${random.pick(observations)}`;
  return ` and so on, as it began. ${random.pick(observations)}`;
}

function reportResults(results: readonly string[]): string {
  const said = results.map((result) => result.slice(0, quotedLength));
  return said.length === 1 ? `The tool answered: ${said[0]}` : `The tools answered: ${said.join(' | ')}`;
}

function fulfilWish({ text, topic, media }: Subject, random: Random): string | undefined {
  if (media.length > 0 || text.length > wishLength) return undefined;
  return (
    repeat(text) ?? count(text) ?? calculate(text) ?? list(text, topic, random) ?? essay(text, topic, random)
  );
}

function repeat(text: string): string | undefined {
  const wish =
    /^(?:please\s+)?(?:say|repeat|echo|(?:reply|answer|respond) with)(?:\s+(?:exactly|only|just|the words?|after me|this))*\s*:?\s+(.+)$/isu;
  const said = wish.exec(text)?.[1]?.trim();
  if (said === undefined) return undefined;
  return /^["“'‘`](.+)["”'’`][.!]?$/su.exec(said)?.[1] ?? said;
}

function count(text: string): string | undefined {
  const wish = /\bcount\b[^.!?\d]*?(?:from\s+(\d{1,6})\s+)?(?:up\s+)?to\s+(\d{1,6}|\p{L}+)\b/iu.exec(text);
  const to = toCount(wish?.[2]);
  if (wish === null || to === undefined) return undefined;
  const from = Number(wish[1] ?? 1);
  const last = Math.min(to, from + mostCounted - 1);
  if (last < from) return undefined;
  return `${Array.from({ length: last - from + 1 }, (_, step) => from + step).join(', ')}.`;
}

function calculate(text: string): string | undefined {
  const task = /(-?\d{1,9}(?:\.\d{1,4})?)\s*([-+*/×÷])\s*(-?\d{1,9}(?:\.\d{1,4})?)\s*(?:=|\?|\.|$)/u.exec(
    text,
  );
  if (task === null) return undefined;
  const [, a = '', sign = '', b = ''] = task;
  const results: Record<string, number> = {
    '+': Number(a) + Number(b),
    '-': Number(a) - Number(b),
    '*': Number(a) * Number(b),
    '×': Number(a) * Number(b),
    '/': Number(a) / Number(b),
    '÷': Number(a) / Number(b),
  };
  const result = Number((results[sign] ?? 0).toPrecision(12));
  if (!Number.isFinite(result)) return `${a} ${sign} ${b} has no result.`;
  return `${a} ${sign} ${b} = ${result}.`;
}

function list(text: string, topic: string, random: Random): string | undefined {
  const wish =
    /\b(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:\p{L}+\s+){0,2}?(?:ideas|reasons|steps|examples|ways|tips|facts|things|items|names|points|questions)\b/iu.exec(
      text,
    );
  const wanted = toCount(wish?.[1]) ?? (/\b(?:list|bullet points)\b/iu.test(text) ? 3 : undefined);
  if (wanted === undefined || wanted < 1) return undefined;
  const start = random.below(aspects.length);
  const items = Array.from({ length: Math.min(wanted, mostItems) }, (_, index) => {
    return `${index + 1}. ${aspects[(start + index) % aspects.length]}.`;
  });
  return [`On “${topic}”:`, '', ...items].join('\n');
}

function essay(text: string, topic: string, random: Random): string | undefined {
  const wanted = Number(/\b(\d{2,6})[\s-]+words?\b/iu.exec(text)?.[1] ?? 0);
  if (wanted === 0) return undefined;
  const sentences = [`This is about “${topic}”.`];
  let words = countWords(sentences[0] ?? '');
  while (words < Math.min(wanted, mostWords)) {
    const sentence = random.pick(observations);
    sentences.push(sentence);
    words += countWords(sentence);
  }
  return sentences.join(' ');
}

function toCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const value = numberWords.indexOf(text.toLowerCase());
  return value === -1 ? undefined : value;
}

function describeMedia({ kind, mediaType, bytes }: Media): string {
  const article = kind === 'video' ? 'a video' : kind === 'image' ? 'an image' : 'an audio clip';
  return `You sent ${article} (${mediaType}, ${bytes} bytes).`;
}

function* remarks({ text, topic, wordCount }: Subject, random: Random): Generator<string, void> {
  if (/^(?:hi|hello|hey|good (?:morning|evening|day))\b/iu.test(text)) {
    yield random.pick(['Hello!', 'Hello, good to hear from you!', 'Good day!']);
  }
  yield random.pick([
    `You asked about “${topic}”.`,
    `Let us look at “${topic}”.`,
    `Here is what there is to say about “${topic}”.`,
  ]);
  if (wordCount > 0) yield `Your message has ${wordCount} ${wordCount === 1 ? 'word' : 'words'}.`;
  const first = random.below(observations.length);
  const total = 2 + random.below(3);
  // A stride that shares no factor with their number: no sentence comes twice.
  for (let index = 0; index < total; index++) {
    yield observations[(first + index * 5) % observations.length] ?? observations[0];
  }
}
