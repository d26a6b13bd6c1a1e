/**
 * What a schema cannot say of a declaration: whether its parts agree with each other. Pure. The declaration
 * is published and enforced as it stands, so a table that breaks its own constraint must not get in.
 */
import type { Problem } from '../../lib/schema.ts';
import type { Declaration } from './declaration.ts';
import { isReservedId } from './names.ts';

/** The problems of one declaration, by paths relative to it. */
export function checkDeclaration(model: Declaration): Problem[] {
  const problems = [...checkIdentity(model)];
  switch (model.type) {
    case 'chat':
      problems.push(...checkChat(model));
      break;
    case 'image':
      problems.push(...checkImage(model));
      break;
    case 'video':
      problems.push(...checkVideo(model));
      break;
    case 'music':
      problems.push(...checkRange('duration', model.duration));
      break;
    case 'speech':
      problems.push(...checkSpeech(model));
      break;
  }
  return problems;
}

function* checkIdentity(model: Declaration): Generator<Problem> {
  if (isReservedId(model.id))
    yield { path: 'id', message: `${JSON.stringify(model.id)} is the path of another route` };
  if (model.engine !== undefined && model.engines !== undefined) {
    yield { path: 'engine', message: 'stands beside engines: give one of the two' };
  }
  if (model.shutdownDate !== undefined && !isDate(model.shutdownDate)) {
    yield { path: 'shutdownDate', message: 'must be a date of the calendar' };
  }
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function* checkChat(model: Declaration<'chat'>): Generator<Problem> {
  const { contextLength, maxCompletionTokens, reasoning } = model;
  if (maxCompletionTokens !== undefined && maxCompletionTokens > contextLength) {
    yield { path: 'maxCompletionTokens', message: `must be at most the contextLength, ${contextLength}` };
  }
  const { defaultEffort, supportedEfforts } = reasoning ?? {};
  if (
    defaultEffort !== undefined &&
    supportedEfforts !== undefined &&
    !supportedEfforts.includes(defaultEffort)
  ) {
    yield {
      path: 'reasoning.defaultEffort',
      message: `must be one of supportedEfforts, ${supportedEfforts.join(', ')}`,
    };
  }
  if (reasoning?.mandatory === true && reasoning.defaultEnabled === false) {
    yield { path: 'reasoning.defaultEnabled', message: 'must not be false where reasoning is mandatory' };
  }
}

type SizeConstraint = Declaration<'image'>['size'];

function* checkImage(model: Declaration<'image'>): Generator<Problem> {
  const { size, resolutions } = model;
  if (size.minArea > size.maxArea) yield { path: 'size.minArea', message: 'must be at most maxArea' };
  if (size.maxTotalArea !== undefined && size.maxTotalArea < size.maxArea) {
    yield { path: 'size.maxTotalArea', message: 'must be at least maxArea' };
  }
  const wrong = breaches(size.default, size);
  if (wrong !== undefined) yield { path: 'size.default', message: wrong };
  yield* checkResolutions(resolutions, model.defaultResolution);
  for (const entry of entriesOf(resolutions)) {
    const breach = breaches(entry.size, size);
    if (breach !== undefined) yield { path: entry.path, message: breach };
  }
  yield* checkRange('steps', model.steps);
  yield* checkRange('guidanceScale', model.guidanceScale);
}

/** What is wrong with a size under the declared constraint. */
function breaches(text: string, constraint: SizeConstraint): string | undefined {
  const { width, height } = toSize(text);
  const { multipleOf, minArea, maxArea, maxRatio } = constraint;
  if (width % multipleOf !== 0 || height % multipleOf !== 0) {
    return `must have sides that are multiples of ${multipleOf}: ${text}`;
  }
  const area = width * height;
  if (area < minArea || area > maxArea)
    return `must have an area of ${minArea} to ${maxArea} pixels: ${text} has ${area}`;
  if (Math.max(width, height) > maxRatio * Math.min(width, height)) {
    return `must have a longer side of at most ${maxRatio} times the shorter: ${text}`;
  }
  return undefined;
}

function* checkVideo(model: Declaration<'video'>): Generator<Problem> {
  const { resolutions, defaultResolution, defaultAspectRatio } = model;
  yield* checkRange('duration', model.duration);
  yield* checkRange('steps', model.steps);
  yield* checkResolutions(resolutions, defaultResolution);
  const seen = new Map<string, string>();
  for (const { path, size } of entriesOf(resolutions)) {
    const { width, height } = toSize(size);
    if (width % 2 !== 0 || height % 2 !== 0)
      yield { path, message: `must have even sides, as video codecs do: ${size}` };
    const first = seen.get(size);
    // A size sent alone must tell its resolution and aspect ratio.
    if (first !== undefined) yield { path, message: `is the same size as ${first}: ${size}` };
    else seen.set(size, path);
  }
  for (const [label, ratios] of Object.entries(resolutions)) {
    if (ratios[defaultAspectRatio] === undefined) {
      yield {
        path: `resolutions.${label}`,
        message: `has no size for the default aspect ratio, ${defaultAspectRatio}`,
      };
    }
  }
  for (const label of Object.keys(model.resolutionPriceFactors ?? {})) {
    if (resolutions[label] === undefined)
      yield unknownResolution(`resolutionPriceFactors.${label}`, resolutions);
  }
  for (const [index, label] of (model.turboOnlyResolutions ?? []).entries()) {
    if (resolutions[label] === undefined)
      yield unknownResolution(`turboOnlyResolutions[${index}]`, resolutions);
  }
  const references = model.inputReferences;
  if (
    references !== undefined &&
    references.total > references.images + references.videos + references.audio
  ) {
    yield { path: 'inputReferences.total', message: 'must be at most images, videos and audio together' };
  }
}

type SizeTable = Declaration<'video'>['resolutions'];

/** Sides are rounded to what a model can render, so a ratio is met within this share. */
const ratioTolerance = 0.05;

function* checkResolutions(resolutions: SizeTable, defaultResolution: string): Generator<Problem> {
  if (Object.keys(resolutions).length === 0)
    yield { path: 'resolutions', message: 'must have at least 1 entry' };
  else if (resolutions[defaultResolution] === undefined)
    yield unknownResolution('defaultResolution', resolutions);
  for (const { path, ratio, size } of entriesOf(resolutions)) {
    const { width, height } = toSize(size);
    const [across = 0, down = 0] = ratio.split(':').map(Number);
    if (!(Math.abs((width * down) / (height * across) - 1) <= ratioTolerance)) {
      yield { path, message: `does not have the aspect ratio ${ratio}: ${size}` };
    }
  }
}

function unknownResolution(path: string, resolutions: SizeTable): Problem {
  return { path, message: `must be one of resolutions, ${Object.keys(resolutions).join(', ')}` };
}

function* entriesOf(resolutions: SizeTable): Generator<{ path: string; ratio: string; size: string }> {
  for (const [label, ratios] of Object.entries(resolutions)) {
    for (const [ratio, size] of Object.entries(ratios))
      yield { path: `resolutions.${label}.${ratio}`, ratio, size };
  }
}

function toSize(text: string): { width: number; height: number } {
  const [width = 0, height = 0] = text.split('x').map(Number);
  return { width, height };
}

function* checkRange(
  path: string,
  range: { min: number; max: number; default?: number } | undefined,
): Generator<Problem> {
  if (range === undefined) return;
  if (range.min > range.max) yield { path: `${path}.min`, message: `must be at most ${path}.max` };
  else if (range.default !== undefined && (range.default < range.min || range.default > range.max)) {
    yield { path: `${path}.default`, message: `must be from ${range.min} to ${range.max}` };
  }
}

/** Modes of the speech route, which a voice cannot be called. */
const voiceModes = ['design', 'clone'];

function* checkSpeech(model: Declaration<'speech'>): Generator<Problem> {
  const ids = new Set<string>();
  for (const [index, { id }] of model.voices.entries()) {
    const path = `voices[${index}].id`;
    if (voiceModes.includes(id))
      yield { path, message: `${JSON.stringify(id)} is a mode of the speech route` };
    if (ids.has(id)) yield { path, message: `${JSON.stringify(id)} is the id of two voices` };
    ids.add(id);
  }
  if (!ids.has(model.defaultVoice)) {
    yield { path: 'defaultVoice', message: `must be one of the voices, ${[...ids].join(', ')}` };
  }
}
