/** Things that lie on tables or hang in the air. */
import { darken, fade, lighten, mix, rgb, white } from '../colour.ts';
import type { Point } from '../pen.ts';
import type { Drawing } from './look.ts';

const ink = rgb(0x24222b);

export const drawHeart: Drawing = (pen, { main }) => {
  const points: Point[] = Array.from({ length: 60 }, (_, index) => {
    const t = (index / 60) * 2 * Math.PI;
    const y = 13 * Math.cos(t) - 5 * Math.cos(2 * t) - 2 * Math.cos(3 * t) - Math.cos(4 * t);
    return [(16 * Math.sin(t) ** 3) / 33, -y / 33 - 0.55];
  });
  pen.polygon(points, { from: lighten(main, 0.25), to: darken(main, 0.25), line: [-0.3, -0.9, 0.25, -0.1] });
  pen.ellipse(-0.22, -0.74, 0.1, 0.065, fade(white, 0.5), -0.1);
};

export const drawApple: Drawing = (pen, { main }) => {
  pen.blob(
    [
      [0, -0.8],
      [-0.2, -0.87],
      [-0.42, -0.7],
      [-0.43, -0.4],
      [-0.26, -0.06],
      [-0.1, 0],
      [0, -0.03],
      [0.1, 0],
      [0.26, -0.06],
      [0.43, -0.4],
      [0.42, -0.7],
      [0.2, -0.87],
    ],
    { from: lighten(main, 0.3), to: darken(main, 0.3), centre: [-0.15, -0.62], radius: 0.75 },
  );
  pen.curve(
    [
      [0, -0.79],
      [0.02, -0.92],
      [0.07, -1],
    ],
    0.035,
    rgb(0x5a3d24),
  );
  pen.blob(
    [
      [0.04, -0.88],
      [0.16, -1.02],
      [0.34, -1],
      [0.22, -0.87],
    ],
    rgb(0x5aa03c),
  );
  pen.ellipse(-0.22, -0.62, 0.06, 0.13, fade(white, 0.5), 0.08);
};

export const drawCup: Drawing = (pen, { main, accent }) => {
  for (const [index, x] of [-0.14, 0.02, 0.18].entries()) {
    const y = -0.74 - (index % 2) * 0.04;
    pen.curve(
      [
        [x, y],
        [x + 0.05, y - 0.08],
        [x - 0.03, y - 0.16],
        [x + 0.03, y - 0.25],
      ],
      0.03,
      fade(white, 0.55),
    );
  }
  pen.ellipse(0, -0.03, 0.5, 0.06, lighten(accent, 0.45));
  pen.ellipse(0, -0.045, 0.4, 0.04, darken(accent, 0.05));
  pen.ring(0.34, -0.38, 0.13, 0.06, darken(main, 0.1));
  pen.blob(
    [
      [-0.34, -0.66],
      [-0.32, -0.3],
      [-0.2, -0.06],
      [0.2, -0.06],
      [0.32, -0.3],
      [0.34, -0.66],
    ],
    { from: lighten(main, 0.3), to: darken(main, 0.25), line: [-0.34, 0, 0.34, 0] },
  );
  pen.ellipse(0, -0.66, 0.345, 0.075, lighten(main, 0.4));
  pen.ellipse(0, -0.655, 0.3, 0.055, rgb(0x4a2a18));
  pen.ellipse(-0.06, -0.66, 0.14, 0.022, rgb(0xb07a4c));
};

export const drawCake: Drawing = (pen, { main, accent }) => {
  pen.ellipse(0, -0.02, 0.55, 0.06, rgb(0xe6e2da));
  const tier = (wide: number, foot: number, tall: number, colour: typeof main) => {
    pen.rect(
      -wide,
      foot - tall,
      wide * 2,
      tall,
      { from: lighten(colour, 0.2), to: darken(colour, 0.12), line: [-wide, 0, wide, 0] },
      0.03,
    );
    pen.ellipse(0, foot - tall + 0.02, wide, 0.05, rgb(0xfff4e6));
    for (let drip = -3; drip <= 3; drip++)
      pen.rect(
        (drip * wide) / 3.6 - 0.03,
        foot - tall + 0.02,
        0.06,
        0.06 + 0.04 * ((drip + 3) % 2),
        rgb(0xfff4e6),
        0.03,
      );
  };
  tier(0.44, -0.03, 0.3, main);
  tier(0.3, -0.33, 0.24, accent);
  for (const x of [-0.15, 0, 0.15]) {
    pen.rect(x - 0.018, -0.76, 0.036, 0.2, mix(accent, white, 0.6));
    pen.blob(
      [
        [x, -0.87],
        [x + 0.03, -0.8],
        [x, -0.765],
        [x - 0.03, -0.8],
      ],
      rgb(0xffb52c),
    );
    pen.circle(x, -0.8, 0.07, {
      from: fade(rgb(0xffe08a), 0.5),
      to: fade(rgb(0xffe08a), 0),
      centre: [x, -0.8],
      radius: 0.07,
    });
  }
};

export const drawUmbrella: Drawing = (pen, { main, accent }) => {
  pen.curve(
    [
      [0, -0.85],
      [0, -0.3],
      [0, -0.1],
      [0.06, -0.02],
      [0.12, -0.08],
    ],
    0.026,
    rgb(0x4a3222),
  );
  pen.rect(-0.01, -1, 0.02, 0.08, rgb(0x4a3222));
  const ribs = 5;
  for (let rib = 0; rib < ribs; rib++) {
    const [a, b] = [-0.5 + rib / ribs, -0.5 + (rib + 1) / ribs];
    const arc = (x: number): Point => [x, -0.52 - 0.42 * Math.sqrt(Math.max(0, 1 - (x / 0.5) ** 2))];
    const top = Array.from({ length: 7 }, (_, step) => arc(a + ((b - a) * step) / 6));
    pen.polygon([...top, [b, -0.52], [(a + b) / 2, -0.575], [a, -0.52]], rib % 2 === 0 ? main : accent);
  }
  pen.curve(
    [
      [-0.36, -0.72],
      [-0.2, -0.87],
    ],
    0.02,
    fade(white, 0.4),
  );
};

export const drawBook: Drawing = (pen, { main, accent }) => {
  for (const side of [-1, 1]) {
    pen.polygon(
      [
        [0, -0.06],
        [side * 0.62, -0.18],
        [side * 0.62, -0.78],
        [0, -0.66],
      ],
      darken(main, 0.15),
    );
    pen.blob(
      [
        [0, -0.1],
        [side * 0.3, -0.22],
        [side * 0.58, -0.2],
        [side * 0.58, -0.78],
        [side * 0.3, -0.84],
        [0, -0.7],
      ],
      { from: rgb(0xe9dfc8), to: rgb(0xfffaf0), line: [0, 0, side * 0.5, 0] },
    );
    for (let line = 0; line < 6; line++)
      pen.curve(
        [
          [side * 0.09, -0.64 + line * 0.085],
          [side * 0.3, -0.735 + line * 0.085],
          [side * 0.5, -0.7 + line * 0.085],
        ],
        0.014,
        fade(ink, 0.45),
      );
  }
  pen.polygon(
    [
      [0.05, -0.72],
      [0.11, -0.75],
      [0.11, -0.4],
      [0.08, -0.44],
      [0.05, -0.39],
    ],
    accent,
  );
};

export const drawStar: Drawing = (pen, { main }) => {
  const points: Point[] = Array.from({ length: 10 }, (_, index) => {
    const [angle, radius] = [(index / 10) * 2 * Math.PI - Math.PI / 2, index % 2 === 0 ? 0.5 : 0.21];
    return [Math.cos(angle) * radius, Math.sin(angle) * radius - 0.5];
  });
  pen.polygon(points, {
    from: lighten(main, 0.35),
    to: darken(main, 0.1),
    centre: [-0.1, -0.6],
    radius: 0.6,
  });
};

export const drawPlanet: Drawing = (pen, { main, accent, random }) => {
  const tilted = pen.at({ x: 0, y: -0.5, turn: -0.05 });
  const hoop = (from: number, to: number): Point[] =>
    Array.from({ length: 40 }, (_, index) => {
      const angle = (from + ((to - from) * index) / 39) * 2 * Math.PI;
      return [Math.cos(angle) * 0.6, Math.sin(angle) * 0.15];
    });
  tilted.stroke(hoop(0.5, 1), 0.05, fade(lighten(accent, 0.3), 0.85));
  pen.circle(0, -0.5, 0.36, {
    from: lighten(main, 0.3),
    to: darken(main, 0.55),
    centre: [-0.14, -0.64],
    radius: 0.62,
  });
  for (let band = 0; band < 4; band++)
    tilted.ellipse(
      (random.next() - 0.5) * 0.2,
      -0.2 + band * 0.12,
      0.16 + 0.08 * random.next(),
      0.018,
      fade(lighten(accent, 0.2), 0.5),
    );
  tilted.stroke(hoop(0, 0.5), 0.05, lighten(accent, 0.3));
};

export const drawKite: Drawing = (pen, { main, accent }) => {
  const tail: Point[] = [
    [0, -0.4],
    [0.1, -0.28],
    [-0.05, -0.16],
    [0.08, 0],
  ];
  pen.curve(tail, 0.012, ink);
  for (const [x, y] of tail.slice(1))
    pen.polygon(
      [
        [x - 0.05, y - 0.03],
        [x + 0.05, y + 0.03],
        [x + 0.05, y - 0.03],
        [x - 0.05, y + 0.03],
      ],
      accent,
    );
  const [top, right, foot, left]: [Point, Point, Point, Point] = [
    [0, -1],
    [0.28, -0.74],
    [0, -0.4],
    [-0.28, -0.74],
  ];
  const middle: Point = [0, -0.74];
  for (const [corner, next, colour] of [
    [top, right, main],
    [right, foot, accent],
    [foot, left, main],
    [left, top, accent],
  ] as const)
    pen.polygon([middle, corner, next], colour);
};
