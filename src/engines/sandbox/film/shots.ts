/** What a film shows at a moment: a painted scene with what moves in it, or a picture that was given. */
import type { Colour } from '../picture/colour.ts';
import { type Actor, lamps, placementOf, poseOf } from './actors.ts';
import { type Direction, type Framing, framingAt, smooth } from './direction.ts';
import { type Layer, rowKinds } from './layer.ts';
import type { Raster, View } from './raster.ts';
import { cloudRoom, type FilmSet } from './set.ts';
import type { Weather } from './weather.ts';

export interface Moment {
  readonly seconds: number;
  /** Of the film, from 0 to 1. */
  readonly share: number;
}

export interface Shot {
  draw(raster: Raster, moment: Moment): void;
}

/** A set is so much larger than the frame. */
export const overscan = 1.16;
/** At most this many of a frame's pixels from one of the set's. */
const nearest = 1.1;

/** Where the camera stands over a layer that is larger than the frame. `depth` 1 moves with it, 0 stands still. */
function viewOf(layer: Layer, { width, height }: Raster, framing: Framing, depth: number): View {
  const least = Math.max(width / layer.width, height / layer.height);
  const most = Math.max(nearest, least);
  const zoom = least + (most - least) * depth * framing.zoom;
  const step = 1 / zoom;
  const roomX = layer.width - 1 - (width - 1) * step;
  const roomY = layer.height - 1 - (height - 1) * step;
  return {
    x: Math.max(0, (roomX / 2) * (1 + framing.x * depth)),
    y: Math.max(0, (roomY / 2) * (1 + framing.y * depth)),
    step,
  };
}

export interface SceneShotParts {
  readonly set: FilmSet;
  readonly direction: Direction;
  readonly weather: Weather;
  readonly filmSeconds: number;
}

const skyDepth = 0.45;

export function createSceneShot({ set, direction, weather, filmSeconds }: SceneShotParts): Shot {
  const { scene, sky, clouds, land, bolt, actors } = set;
  const flashes = scene.sky.has('lightning') ? toFlashes(filmSeconds, direction.pace) : [];
  const sway = toSway(set, direction.pace);

  return {
    draw(raster, { seconds, share }) {
      const framing = framingAt(direction, share);
      const ground = viewOf(land ?? sky, raster, framing, 1);
      const covers = (row: number) => {
        if (land === undefined) return false;
        const at = Math.min(land.height - 1, Math.floor(ground.y + row * ground.step));
        return Math.min(land.rows[at]!, land.rows[at + 1]!) === rowKinds.covering;
      };
      const above = viewOf(sky, raster, framing, skyDepth);
      raster.layer(sky, above, covers);
      const flash = Math.max(0, ...flashes.map((at) => 1 - Math.abs(seconds - at) / 0.12));
      if (bolt !== undefined && flash > 0) raster.layer(bolt, above, covers);
      if (clouds !== undefined) {
        const drift = ((seconds / filmSeconds) * 0.6 * direction.pace + 0.15) * cloudRoom * sky.width;
        raster.layer(clouds, { ...above, x: above.x + Math.min(drift, cloudRoom * sky.width) }, covers);
      }
      if (land !== undefined) {
        raster.layer(land, sway === undefined ? ground : { ...ground, sway: (row) => sway(row, seconds) });
      }
      for (const actor of actors) drawActor(raster, actor, ground, seconds, filmSeconds, direction);
      weather.draw(raster, seconds * direction.pace, 1);
      shine(raster, scene.time, scene.palette, share, flash);
    },
  };
}

function drawActor(
  raster: Raster,
  actor: Actor,
  { x, y, step }: View,
  seconds: number,
  filmSeconds: number,
  direction: Direction,
): void {
  const { placed, shadow, kind, sprite } = actor;
  const zoom = 1 / step;
  const pose = poseOf(actor, seconds, filmSeconds / 2, direction);
  const footX = (placed.x + pose.x * placed.height - x) * zoom;
  const groundY = (placed.y - y) * zoom;
  const footY = groundY + pose.y * placed.height * zoom;
  if (shadow !== undefined) {
    const [e, f] = [footX - (shadow.width / 2) * zoom, groundY - (shadow.height / 2) * zoom];
    raster.sprite(shadow, { a: zoom, b: 0, c: 0, d: zoom, e, f }, 1 + pose.y * 3);
  }
  const lamp = lamps[kind];
  const isFire = lamp !== undefined && lamp.up < 0;
  const shineAt = () => {
    if (lamp === undefined) return;
    const turn = isFire ? 0.8 + 0.2 * Math.sin(seconds * 31) : Math.max(0, Math.sin(seconds * 1.9)) ** 2;
    const radius = placed.height * zoom * (isFire ? 0.22 : 0.16 + 0.5 * turn);
    raster.glow(footX, footY - lamp.up * placed.height * zoom, radius, lamp.colour, 0.25 + 0.75 * turn);
  };
  if (isFire) shineAt();
  raster.sprite(sprite, placementOf(actor, pose, footX, footY, zoom));
  if (!isFire) shineAt();
}

/** The light of the hour goes on: an evening sinks, a morning brightens, clouds pass in front of the sun. */
function shine(
  raster: Raster,
  time: FilmSet['scene']['time'],
  { skyHigh, light }: { skyHigh: Colour; light: Colour },
  share: number,
  flash: number,
): void {
  if (flash > 0) raster.tint({ r: 232, g: 238, b: 255 }, 0.45 * flash);
  else if (time === 'sunset') raster.tint(skyHigh, 0.22 * smooth(share));
  else if (time === 'dawn') raster.tint(light, 0.16 * smooth(share));
  else if (time === 'day') raster.tint({ r: 24, g: 34, b: 60 }, 0.06 * (0.5 - 0.5 * Math.cos(share * 7)));
  else if (time === 'storm') raster.tint({ r: 14, g: 18, b: 30 }, 0.1 + 0.05 * Math.sin(share * 23));
}

/** Rows of water run to and fro, each for itself; hot air trembles. */
function toSway({ scene }: FilmSet, pace: number): ((row: number, seconds: number) => number) | undefined {
  const { land, horizon, height, width } = scene;
  const unit = Math.min(width, height);
  if (land === 'desert') {
    return (row, seconds) =>
      Math.sin(row * 0.21 + seconds * 7 * pace) * unit * 0.0012 * near(row, horizon, unit * 0.12);
  }
  if (land !== 'sea' && land !== 'beach') return undefined;
  // The shore stands still.
  const end = land === 'sea' ? height * 1.2 : horizon + (height - horizon) * 0.42;
  return (row, seconds) => {
    if (row <= horizon || row >= end) return 0;
    const depth = (row - horizon) / (height - horizon);
    const calm = land === 'sea' ? 1 : Math.min(1, ((end - row) / (end - horizon)) * 2.5);
    const speed = seconds * pace;
    const waves =
      Math.sin(row * (0.34 - 0.2 * depth) - speed * 2.6) + 0.6 * Math.sin(row * 0.11 + speed * 1.7);
    return waves * unit * (0.0012 + 0.006 * depth) * Math.min(1, depth * 12) * calm;
  };
}

function near(row: number, place: number, reach: number): number {
  return Math.max(0, 1 - Math.abs(row - place) / reach);
}

function toFlashes(filmSeconds: number, pace: number): number[] {
  const flashes: number[] = [];
  for (let at = 0.9; at < filmSeconds; at += 2.3 / pace) flashes.push(at, at + 0.22);
  return flashes;
}

export interface PictureShotParts {
  readonly picture: Layer;
  readonly direction: Direction;
  readonly weather: Weather;
  /** How far the weather has set in. */
  readonly weatherAt: (share: number) => number;
  /** The picture is warped like something that breathes: in parts of its width. */
  readonly breath?: number;
}

/** A picture that is larger than the frame: painted in a manner, or of nothing in particular. */
export function createPictureShot(parts: PictureShotParts): Shot {
  const { picture, direction, weather, weatherAt, breath = 0 } = parts;
  const strength = breath * picture.width;
  return {
    draw(raster, { seconds, share }) {
      const view = viewOf(picture, raster, framingAt(direction, share), 1);
      const sway = (row: number) =>
        strength * Math.sin((row / picture.height) * 9 + seconds * 1.3 * direction.pace);
      raster.layer(picture, strength === 0 ? view : { ...view, sway });
      weather.draw(raster, seconds * direction.pace, weatherAt(share));
    },
  };
}

const pushIn = 0.14;

/** A picture of just the frame's size: exactly itself where `isStart` the film begins, else where it ends. */
export function createKeyframeShot(parts: PictureShotParts & { readonly isStart: boolean }): Shot {
  const { picture, direction, weather, weatherAt, isStart } = parts;
  return {
    draw(raster, { seconds, share }) {
      const away = isStart ? share : 1 - share;
      const zoom = 1 + pushIn * smooth(away);
      const step = 1 / zoom;
      const room = (side: number) => (side - 1) * (1 - step);
      const aim = (side: number, at: number) => (room(side) / 2) * (1 + at * 0.6);
      const { x, y } = isStart ? direction.to : direction.from;
      raster.layer(picture, { x: aim(picture.width, x), y: aim(picture.height, y), step });
      weather.draw(raster, seconds * direction.pace, weatherAt(share));
    },
  };
}
