/** People, and what looks like them. */
import { darken, lighten, mix, rgb, white } from '../colour.ts';
import type { Drawing } from './look.ts';

const ink = rgb(0x24222b);
const skins = [rgb(0xf3c9a5), rgb(0xd9a074), rgb(0x9a6543), rgb(0x6d4630)] as const;

export const drawPerson: Drawing = (pen, { main, accent, random }) => {
  const skin = random.pick([...skins]);
  const hair = random.pick([rgb(0x2e2018), rgb(0x6b4226), rgb(0xc99a4a), rgb(0x3a3a42)]);
  for (const x of [-0.065, 0.065]) {
    pen.rect(x - 0.05, -0.44, 0.1, 0.42, darken(accent, 0.25), 0.03);
    pen.ellipse(x + 0.01, -0.02, 0.075, 0.03, ink);
  }
  for (const side of [-1, 1]) {
    pen.curve(
      [
        [side * 0.13, -0.68],
        [side * 0.22, -0.55],
        [side * 0.2, -0.42],
      ],
      0.075,
      darken(main, 0.12),
    );
    pen.circle(side * 0.2, -0.4, 0.036, skin);
  }
  pen.blob(
    [
      [-0.15, -0.7],
      [0, -0.75],
      [0.15, -0.7],
      [0.14, -0.5],
      [0.13, -0.36],
      [-0.13, -0.36],
      [-0.14, -0.5],
    ],
    { from: lighten(main, 0.12), to: darken(main, 0.15), line: [-0.15, 0, 0.15, 0] },
  );
  pen.rect(-0.04, -0.79, 0.08, 0.08, darken(skin, 0.1));
  pen.circle(0, -0.88, 0.12, hair);
  pen.ellipse(0, -0.865, 0.098, 0.105, skin);
  pen.blob(
    [
      [-0.11, -0.86],
      [-0.1, -0.97],
      [0.02, -1.01],
      [0.11, -0.95],
      [0.1, -0.88],
      [0.02, -0.935],
    ],
    hair,
  );
  for (const x of [-0.035, 0.035]) pen.circle(x, -0.87, 0.012, ink);
  pen.curve(
    [
      [-0.03, -0.825],
      [0, -0.812],
      [0.03, -0.825],
    ],
    0.008,
    rgb(0x9a4a44),
  );
};

export const drawRobot: Drawing = (pen, { main, accent }) => {
  const metal = mix(main, rgb(0xb6bec9), 0.35);
  const body = { from: lighten(metal, 0.25), to: darken(metal, 0.25), line: [-0.25, 0, 0.25, 0] as const };
  for (const x of [-0.11, 0.11]) {
    pen.rect(x - 0.045, -0.26, 0.09, 0.22, darken(metal, 0.3), 0.02);
    pen.rect(x - 0.085, -0.08, 0.17, 0.08, metal, 0.03);
  }
  for (const side of [-1, 1]) {
    pen.curve(
      [
        [side * 0.22, -0.54],
        [side * 0.34, -0.44],
        [side * 0.33, -0.3],
      ],
      0.065,
      darken(metal, 0.2),
    );
    pen.ring(side * 0.33, -0.26, 0.05, 0.03, metal);
  }
  pen.rect(-0.23, -0.6, 0.46, 0.36, body, 0.05);
  pen.rect(-0.14, -0.53, 0.28, 0.16, darken(metal, 0.5), 0.02);
  for (const [index, x] of [-0.08, 0, 0.08].entries())
    pen.circle(x, -0.45, 0.028, [accent, rgb(0x5fe08a), rgb(0xffcf4a)][index] ?? accent);
  pen.rect(-0.06, -0.66, 0.12, 0.08, darken(metal, 0.35));
  pen.rect(-0.01, -0.99, 0.02, 0.1, darken(metal, 0.3));
  pen.circle(0, -0.985, 0.032, accent);
  pen.rect(-0.2, -0.91, 0.4, 0.28, body, 0.06);
  for (const side of [-1, 1]) {
    pen.rect(side * 0.215 - 0.02, -0.82, 0.04, 0.1, darken(metal, 0.3), 0.01);
    pen.circle(side * 0.085, -0.79, 0.058, rgb(0x1d2530));
    pen.circle(side * 0.085, -0.79, 0.04, rgb(0x6fe3ff));
    pen.circle(side * 0.075, -0.802, 0.013, white);
  }
  pen.rect(-0.1, -0.71, 0.2, 0.035, rgb(0x1d2530), 0.01);
  for (let tooth = 0; tooth < 5; tooth++)
    pen.rect(-0.085 + tooth * 0.037, -0.705, 0.022, 0.025, rgb(0x9ff0ff));
};

export const drawSnowman: Drawing = (pen, { main }) => {
  for (const side of [-1, 1])
    pen.stroke(
      [
        [side * 0.16, -0.52],
        [side * 0.36, -0.64],
        [side * 0.42, -0.6],
      ],
      0.018,
      rgb(0x5a3d26),
    );
  for (const [y, r] of [
    [-0.22, 0.23],
    [-0.54, 0.17],
    [-0.8, 0.125],
  ] as const)
    pen.circle(0, y, r, { from: white, to: rgb(0xb9cbe0), centre: [-r * 0.3, y - r * 0.3], radius: r * 1.5 });
  pen.rect(-0.14, -0.93, 0.28, 0.03, ink, 0.01);
  pen.rect(-0.09, -1.06, 0.18, 0.15, ink, 0.01);
  pen.rect(-0.09, -0.96, 0.18, 0.03, main);
  for (const x of [-0.045, 0.045]) pen.circle(x, -0.83, 0.014, ink);
  pen.polygon(
    [
      [0, -0.81],
      [0.13, -0.78],
      [0, -0.775],
    ],
    rgb(0xf08a2c),
  );
  pen.rect(-0.13, -0.71, 0.26, 0.05, main, 0.02);
  pen.rect(0.05, -0.69, 0.06, 0.17, darken(main, 0.15), 0.02);
  for (const y of [-0.58, -0.5, -0.28]) pen.circle(0, y, 0.017, ink);
};
