/** Trees, flowers and other things that grow. */
import { darken, lighten, mix, rgb, white } from '../colour.ts';
import type { Drawing } from './look.ts';

const bark = rgb(0x6b4a2e);

export const drawTree: Drawing = (pen, { main, random }) => {
  pen.polygon(
    [
      [-0.05, 0],
      [-0.03, -0.5],
      [0.03, -0.5],
      [0.06, 0],
    ],
    { from: lighten(bark, 0.12), to: darken(bark, 0.25), line: [-0.05, 0, 0.05, 0] },
  );
  pen.curve(
    [
      [0, -0.35],
      [0.1, -0.5],
      [0.17, -0.58],
    ],
    0.025,
    bark,
  );
  const crowns: readonly (readonly [number, number, number])[] = [
    [-0.2, -0.52, 0.19],
    [0.21, -0.54, 0.18],
    [-0.1, -0.72, 0.2],
    [0.12, -0.74, 0.19],
    [0, -0.58, 0.23],
    [0.01, -0.84, 0.15],
  ];
  for (const [x, y, r] of crowns) pen.circle(x, y, r, darken(main, 0.25));
  for (const [x, y, r] of crowns) pen.circle(x - 0.02, y - 0.025, r * 0.9, main);
  for (let leaf = 0; leaf < 26; leaf++) {
    const [x, y, r] = crowns[random.below(crowns.length)] ?? [0, -0.6, 0.2];
    const angle = random.next() * 2 * Math.PI;
    const far = r * 0.8 * random.next();
    pen.circle(
      x + Math.cos(angle) * far - 0.03,
      y + Math.sin(angle) * far - 0.04,
      0.02 + 0.03 * random.next(),
      lighten(main, 0.1 + 0.16 * random.next()),
    );
  }
};

export const drawPine: Drawing = (pen, { main }) => {
  pen.rect(-0.03, -0.14, 0.06, 0.14, bark);
  for (let tier = 0; tier < 4; tier++) {
    const foot = -0.1 - tier * 0.2;
    const wide = 0.29 - tier * 0.055;
    pen.polygon(
      [
        [-wide, foot],
        [-wide * 0.5, foot - 0.035],
        [0, foot - 0.32],
        [wide * 0.5, foot - 0.035],
        [wide, foot],
        [0, foot + 0.03],
      ],
      { from: lighten(main, 0.1), to: darken(main, 0.3), line: [-wide, 0, wide, 0] },
    );
  }
};

export const drawPalm: Drawing = (pen, { main }) => {
  pen.curve(
    [
      [-0.06, 0],
      [-0.02, -0.35],
      [0.08, -0.72],
    ],
    0.06,
    rgb(0x8a6a45),
  );
  for (let ring = 1; ring < 9; ring++)
    pen.rect(-0.07 + ring * 0.015, -ring * 0.08, 0.07, 0.008, darken(bark, 0.2));
  const leaves: readonly (readonly [number, number])[] = [
    [-0.38, -0.58],
    [-0.42, -0.76],
    [-0.22, -0.95],
    [0.14, -1],
    [0.46, -0.9],
    [0.56, -0.7],
    [0.44, -0.52],
  ];
  for (const [x, y] of leaves) {
    const middle = [(x + 0.08) / 2, (y - 0.72) / 2 - 0.08] as const;
    pen.blob(
      [
        [0.08, -0.75],
        [middle[0], middle[1] - 0.03],
        [x, y],
        [middle[0], middle[1] + 0.06],
        [0.08, -0.69],
      ],
      mix(main, rgb(0x2f8a45), 0.3),
    );
  }
  for (const x of [0.03, 0.1, 0.14]) pen.circle(x, -0.66, 0.035, rgb(0x6b4426));
};

export const drawCactus: Drawing = (pen, { main }) => {
  const ink = { from: lighten(main, 0.12), to: darken(main, 0.25), line: [-0.12, 0, 0.14, 0] as const };
  pen.rect(-0.1, -0.95, 0.2, 0.95, ink, 0.1);
  pen.curve(
    [
      [0.05, -0.32],
      [0.27, -0.36],
      [0.3, -0.52],
      [0.3, -0.68],
    ],
    0.12,
    main,
  );
  pen.curve(
    [
      [-0.05, -0.45],
      [-0.25, -0.48],
      [-0.29, -0.62],
      [-0.29, -0.78],
    ],
    0.11,
    darken(main, 0.08),
  );
  for (const x of [-0.05, 0.01, 0.06])
    pen.stroke(
      [
        [x, -0.88],
        [x, -0.04],
      ],
      0.008,
      darken(main, 0.4),
    );
  pen.circle(0.02, -0.96, 0.05, rgb(0xf06a9a));
};

export const drawFlower: Drawing = (pen, { main, random }) => {
  const stem = rgb(0x3c8a3f);
  pen.curve(
    [
      [0, 0],
      [0.03, -0.3],
      [0, -0.65],
    ],
    0.035,
    stem,
  );
  pen.blob(
    [
      [0.01, -0.2],
      [0.14, -0.34],
      [0.27, -0.34],
      [0.15, -0.22],
    ],
    lighten(stem, 0.1),
  );
  pen.blob(
    [
      [0.02, -0.3],
      [-0.12, -0.42],
      [-0.24, -0.4],
      [-0.13, -0.28],
    ],
    darken(stem, 0.12),
  );
  const petals = 7 + random.below(4);
  for (let petal = 0; petal < petals; petal++) {
    const turn = petal / petals;
    const head = pen.at({ x: 0, y: -0.72, turn });
    head.ellipse(0, -0.17, 0.085, 0.15, {
      from: darken(main, 0.18),
      to: lighten(main, 0.22),
      line: [0, 0, 0, -0.3],
    });
  }
  pen.circle(0, -0.72, 0.1, { from: rgb(0xffdf6b), to: rgb(0xc98a1e), centre: [-0.02, -0.75], radius: 0.13 });
};

export const drawMushroom: Drawing = (pen, { main }) => {
  pen.blob(
    [
      [-0.12, 0],
      [-0.1, -0.3],
      [-0.08, -0.5],
      [0.08, -0.5],
      [0.1, -0.3],
      [0.14, 0],
    ],
    { from: rgb(0xfff6e6), to: rgb(0xd9c7a8), line: [-0.1, 0, 0.14, 0] },
  );
  pen.blob(
    [
      [-0.45, -0.42],
      [-0.4, -0.65],
      [-0.2, -0.9],
      [0, -0.96],
      [0.2, -0.9],
      [0.4, -0.65],
      [0.45, -0.42],
      [0.2, -0.37],
      [-0.2, -0.37],
    ],
    { from: lighten(main, 0.1), to: darken(main, 0.2), line: [-0.4, -0.9, 0.4, -0.4] },
  );
  for (const [x, y, r] of [
    [-0.22, -0.66, 0.07],
    [0.05, -0.78, 0.08],
    [0.27, -0.58, 0.06],
    [-0.03, -0.53, 0.055],
    [-0.36, -0.5, 0.04],
  ] as const)
    pen.ellipse(x, y, r, r * 0.85, white);
};
