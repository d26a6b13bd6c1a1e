/** Paints what is below the horizon, farthest first, and what stands on it by nature: ridges, waves, dunes, towers, trees. */
import type { Random } from '../seed.ts';
import type { Brush } from './brush.ts';
import type { Canvas } from './canvas.ts';
import { paintCity } from './city.ts';
import { darken, fade, lighten, mix, rgb, white } from './colour.ts';
import type { Noise } from './noise.ts';
import { Pen, type Point } from './pen.ts';
import { haze, type Scene } from './scene.ts';
import { drawPine, drawTree } from './subjects/plants.ts';
import type { Land } from './words.ts';

const painters: Readonly<Record<Land, (brush: Brush) => void>> = {
  mountains(brush) {
    paintMountains(brush);
    paintFloor(brush, 0.1);
    paintBlades(brush, 260);
  },
  sea: paintSea,
  beach(brush) {
    paintSea(brush);
    paintBeach(brush);
  },
  hills(brush) {
    paintHills(brush, 4);
    paintBlades(brush, 320);
  },
  city: paintCity,
  desert: paintDesert,
  forest: paintForest,
  meadow(brush) {
    paintHills(brush, 2);
    paintBlades(brush, 500);
    paintBlossoms(brush);
  },
  snow(brush) {
    paintMountains(brush);
    paintHills(brush, 3);
  },
  space: () => {},
  room: paintRoom,
};

export function paintLand(canvas: Canvas, scene: Scene, noise: Noise, random: Random): void {
  const unit = Math.min(scene.width, scene.height);
  painters[scene.land]({ canvas, pen: Pen.on(canvas), scene, noise, random, unit });
}

/** A silhouette down to the bottom; `height` gives its upper edge at a share of the width. */
function ridge({ width, height }: Scene, top: (share: number) => number): Point[] {
  const points: Point[] = [];
  const steps = 160;
  for (let step = 0; step <= steps; step++) points.push([(step / steps) * width, top(step / steps)]);
  points.push([width, height], [0, height]);
  return points;
}

function paintMountains(brush: Brush): void {
  const { pen, scene, noise, random, unit } = brush;
  const { horizon, palette, height } = scene;
  const layers = 3;
  for (let layer = 0; layer < layers; layer++) {
    const near = layer / (layers - 1);
    const offset = random.next() * 100;
    const tall = unit * (scene.sky.has('aurora') ? 0.26 : 0.38) * (1 - 0.25 * layer);
    const rate = 2.2 + layer * 1.3;
    const top = (share: number) => {
      const peak = 1 - Math.abs(noise.at(share * rate + offset, 3) * 2 - 1);
      return (
        horizon - tall * (0.15 + 0.85 * peak ** 1.6) - unit * 0.035 * noise.layered(share * 26 + offset, 7, 2)
      );
    };
    const colour = haze(palette.far, palette, 0.55 - 0.4 * near);
    const line = [0, horizon - tall, 0, horizon] as const;
    pen.polygon(ridge(scene, top), { from: darken(colour, 0.08), to: haze(colour, palette, 0.4), line });
    if (layer < 2 || scene.isSnowy) paintSnowcaps(brush, top, horizon - tall * (0.5 + 0.1 * layer));
  }
  pen.rect(0, horizon - unit * 0.02, scene.width, height, {
    from: fade(palette.skyLow, 0.5),
    to: fade(palette.skyLow, 0),
    line: [0, horizon - unit * 0.02, 0, horizon + unit * 0.12],
  });
}

/** White above a line that is torn at its lower edge. */
function paintSnowcaps({ pen, scene, noise }: Brush, top: (share: number) => number, below: number): void {
  const { width, palette } = scene;
  const snow = mix(white, palette.skyLow, 0.1 + palette.dark * 0.3);
  const steps = 240;
  const upper: Point[] = [];
  const lower: Point[] = [];
  const close = () => {
    if (upper.length > 1) pen.polygon([...upper, ...lower.toReversed()], fade(snow, 0.92));
    upper.length = 0;
    lower.length = 0;
  };
  for (let step = 0; step <= steps; step++) {
    const share = step / steps;
    const y = top(share);
    if (y >= below) {
      close();
      continue;
    }
    upper.push([share * width, y]);
    lower.push([share * width, y + (below - y) * (0.25 + 0.7 * noise.at(share * 46, below))]);
  }
  close();
}

function paintFloor({ pen, scene, noise, random, unit }: Brush, wave: number): void {
  const { horizon, palette, height } = scene;
  const offset = random.next() * 50;
  const top = (share: number) => horizon + unit * wave * (noise.layered(share * 2 + offset, 1, 2) - 0.5);
  pen.polygon(ridge(scene, top), {
    from: haze(palette.ground, palette, 0.3),
    to: darken(palette.ground, 0.25),
    line: [0, horizon, 0, height],
  });
}

function paintHills({ pen, scene, noise, random, unit }: Brush, count: number): void {
  const { horizon, palette, height } = scene;
  for (let layer = 0; layer < count; layer++) {
    const near = count === 1 ? 1 : layer / (count - 1);
    const offset = random.next() * 100;
    const base = horizon + (height - horizon) * 0.55 * near ** 1.2;
    const top = (share: number) =>
      base - unit * (0.13 - 0.07 * near) * (noise.at(share * 2.4 + offset, layer * 5) - 0.25);
    const colour = mix(
      haze(mix(palette.far, palette.ground, 0.5 + near / 2), palette, 0.45 * (1 - near)),
      rgb(0x2f6b2f),
      scene.isSnowy ? 0 : 0.12 * near,
    );
    pen.polygon(ridge(scene, top), {
      from: lighten(colour, 0.1),
      to: darken(colour, 0.22),
      line: [0, base - unit * 0.1, 0, base + unit * 0.4],
    });
  }
}

function paintBlades({ pen, scene, random, unit }: Brush, count: number): void {
  if (scene.isSnowy) return;
  const { horizon, height, width, palette } = scene;
  for (let index = 0; index < count; index++) {
    const near = Math.sqrt(index / count);
    const y = horizon + (height - horizon) * (0.25 + 0.8 * near);
    const x = random.next() * width;
    const tall = unit * (0.006 + 0.035 * near);
    const lean = (random.next() - 0.5) * tall * 0.7;
    const colour = random.next() < 0.5 ? lighten(palette.ground, 0.14) : darken(palette.ground, 0.3);
    pen.polygon(
      [
        [x - tall * 0.07, y],
        [x + lean, y - tall],
        [x + tall * 0.07, y],
      ],
      fade(colour, 0.6),
    );
  }
}

function paintBlossoms({ pen, scene, random, unit }: Brush): void {
  if (scene.isSnowy) return;
  const { horizon, height, width, palette } = scene;
  for (let index = 0; index < 90; index++) {
    const near = random.next();
    const y = horizon + (height - horizon) * (0.2 + 0.78 * near);
    const x = random.next() * width;
    const size = unit * (0.003 + 0.008 * near);
    const colour = palette.accents[random.below(palette.accents.length)] ?? palette.accents[0];
    for (let petal = 0; petal < 5; petal++) {
      const angle = (petal / 5) * 2 * Math.PI;
      pen.circle(
        x + Math.cos(angle) * size,
        y + Math.sin(angle) * size * 0.8,
        size * 0.75,
        lighten(colour, 0.2),
      );
    }
    pen.circle(x, y, size * 0.6, rgb(0xf8d34a));
  }
}

function paintSea({ pen, scene, noise, random, unit }: Brush): void {
  const { horizon, palette, height, width } = scene;
  const floor = height - horizon;
  pen.rect(0, horizon, width, floor, {
    from: mix(palette.water, palette.skyLow, 0.55),
    to: darken(palette.water, 0.25),
    line: [0, horizon, 0, height],
  });
  const rows = 26;
  for (let row = 0; row < rows; row++) {
    const near = (row / rows) ** 1.7;
    const y = horizon + floor * (0.02 + 0.98 * near);
    const swell = unit * (0.002 + 0.014 * near);
    const offset = random.next() * 100;
    const rate = 26 - 20 * near;
    const crest: Point[] = [];
    const trough: Point[] = [];
    for (let step = 0; step <= 90; step++) {
      const share = step / 90;
      const lift = Math.sin(share * rate + offset) * 0.5 + noise.at(share * rate + offset, row) - 0.5;
      crest.push([share * width, y - lift * swell]);
      trough.push([
        share * width,
        y - lift * swell + swell * (0.5 + 0.9 * noise.at(share * rate * 1.7, row + offset)),
      ]);
    }
    const colour = row % 2 === 0 ? lighten(palette.water, 0.28) : darken(palette.water, 0.22);
    pen.polygon([...crest, ...trough.reverse()], fade(colour, 0.45));
  }
  paintGlitter(pen, scene, random, unit);
}

function paintBeach({ pen, scene, noise, random, unit }: Brush): void {
  const { horizon, palette, height, width } = scene;
  const offset = random.next() * 60;
  const top = (share: number) =>
    horizon +
    (height - horizon) * (0.52 + 0.14 * share) -
    unit * 0.07 * noise.layered(share * 2.4 + offset, 4, 2);
  const foam = ridge(scene, (share) => top(share) - unit * (0.008 + 0.012 * noise.at(share * 16, offset)));
  pen.polygon(foam, fade(white, 0.75));
  pen.polygon(ridge(scene, top), {
    from: darken(palette.ground, 0.14),
    to: palette.ground,
    line: [0, horizon, 0, height],
  });
  for (let grain = 0; grain < 160; grain++) {
    const share = random.next();
    const y = top(share) + (height - top(share)) * random.next();
    pen.circle(
      share * width,
      y,
      unit * (0.001 + 0.002 * random.next()),
      fade(darken(palette.ground, 0.3), 0.5),
    );
  }
}

/** The light on the water below sun or moon. */
function paintGlitter(
  pen: Pen,
  { horizon, palette, height, lightX: x, time }: Scene,
  random: Random,
  unit: number,
): void {
  if (time === 'storm') return;
  for (let index = 0; index < 120; index++) {
    const near = random.next();
    const y = horizon + (height - horizon) * near * 0.9 + 2;
    const spread = unit * (0.1 + 0.35 * near);
    const length = unit * (0.008 + 0.03 * near) * (0.5 + random.next());
    pen.ellipse(
      x + (random.next() + random.next() - 1) * spread,
      y,
      length,
      unit * 0.0016 + length * 0.06,
      fade(palette.light, 0.35),
    );
  }
}

function paintDesert({ pen, scene, noise, random, unit }: Brush): void {
  const { horizon, palette, height } = scene;
  for (let layer = 0; layer < 4; layer++) {
    const near = layer / 3;
    const offset = random.next() * 100;
    const base = horizon + (height - horizon) * 0.62 * near;
    const tall = unit * (0.1 + 0.12 * near);
    // Sharp crests with a long windward and a short leeward side.
    const rise = (share: number) => {
      const run = share * (2.4 - near) + offset;
      const saw = run - Math.floor(run);
      const shape = saw < 0.7 ? saw / 0.7 : (1 - saw) / 0.3;
      return shape * (3 * shape - 2 * shape * shape) * 0.5 + shape * 0.35;
    };
    const top = (share: number) =>
      base - tall * rise(share) * (0.5 + 0.8 * noise.at(share * 3 + offset, layer));
    const colour = haze(mix(palette.far, palette.ground, 0.3 + 0.7 * near), palette, 0.35 * (1 - near));
    pen.polygon(ridge(scene, top), {
      from: lighten(colour, 0.16),
      to: darken(colour, 0.25),
      line: [0, base - tall, 0, base + unit * 0.45],
    });
    for (let ripple = 1; ripple < 7; ripple++) {
      const points: Point[] = [];
      for (let step = 0; step <= 60; step++)
        points.push([(step / 60) * scene.width, top(step / 60) + ripple * unit * 0.026 * (0.6 + near)]);
      pen.stroke(points, unit * 0.003, fade(darken(colour, 0.35), 0.16));
    }
  }
}

function paintForest({ pen, scene, noise, random, unit, canvas }: Brush): void {
  paintFloor({ pen, scene, noise, random, unit, canvas }, 0.06);
  const { width, height, horizon, palette } = scene;
  const layers = 4;
  for (let layer = 0; layer < layers; layer++) {
    const near = layer / (layers - 1);
    const count = 26 - layer * 6;
    const foot = horizon + (height - horizon) * (0.02 + 0.32 * near);
    for (let index = 0; index < count; index++) {
      const x = width * ((index + random.next()) / count);
      const tall = unit * (0.2 + 0.26 * near) * (0.75 + 0.5 * random.next());
      const leaf = haze(mix(rgb(0x2f6b38), palette.ground, 0.35), palette, 0.6 * (1 - near));
      const place = pen.at({ x, y: foot + unit * 0.03 * random.next(), scale: tall });
      const look = {
        main: darken(leaf, 0.2 * random.next() + palette.dark * 0.3),
        accent: palette.accents[0],
        dark: palette.dark,
        random,
      };
      if (random.next() < 0.65 || scene.isSnowy)
        drawPine(place, scene.isSnowy ? { ...look, main: mix(look.main, white, 0.35) } : look);
      else drawTree(place, look);
    }
    if (layer < layers - 1) {
      pen.rect(0, foot - unit * 0.2, width, unit * 0.3, {
        from: fade(palette.skyLow, 0),
        to: fade(palette.skyLow, 0.22),
        line: [0, foot - unit * 0.2, 0, foot + unit * 0.05],
      });
    }
  }
  paintBlades({ pen, scene, noise, random, unit, canvas }, 260);
}

function paintRoom({ pen, scene, random, unit }: Brush): void {
  const { width, height, horizon, palette } = scene;
  for (let x = unit * 0.06; x < width; x += unit * 0.13)
    pen.rect(x, 0, unit * 0.035, horizon, fade(palette.skyHigh, 0.22));
  pen.rect(0, horizon, width, height - horizon, {
    from: lighten(palette.ground, 0.12),
    to: darken(palette.ground, 0.3),
    line: [0, horizon, 0, height],
  });
  for (let board = 0; board < 6; board++) {
    const y = horizon + (height - horizon) * (board / 6) ** 1.3;
    pen.rect(0, y, width, unit * 0.004, fade(darken(palette.ground, 0.5), 0.5));
    for (let grain = 0; grain < 8; grain++) {
      const x = random.next() * width;
      pen.rect(
        x,
        y + unit * 0.03 * random.next(),
        unit * (0.05 + 0.15 * random.next()),
        unit * 0.002,
        fade(darken(palette.ground, 0.4), 0.35),
      );
    }
  }
  pen.rect(0, horizon, width, unit * 0.02, {
    from: fade(rgb(0x000000), 0.18),
    to: fade(rgb(0x000000), 0),
    line: [0, horizon, 0, horizon + unit * 0.02],
  });
}
