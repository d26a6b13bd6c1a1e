/** Cats, birds, fish and other animals. */
import { type Colour, darken, fade, lighten, mix, rgb, white } from '../colour.ts';
import type { Pen } from '../pen.ts';
import type { Drawing } from './look.ts';

const ink = rgb(0x1d1b22);

function eye(pen: Pen, x: number, y: number, size: number, iris: Colour): void {
  pen.ellipse(x, y, size, size * 1.15, white);
  pen.ellipse(x, y, size * 0.72, size, iris);
  pen.ellipse(x, y, size * 0.34, size * 0.8, ink);
  pen.circle(x - size * 0.25, y - size * 0.4, size * 0.22, white);
}

export const drawCat: Drawing = (pen, { main }) => {
  const dark = darken(main, 0.3);
  pen.curve(
    [
      [0.2, -0.08],
      [0.42, -0.1],
      [0.46, -0.34],
      [0.36, -0.5],
    ],
    0.07,
    dark,
  );
  pen.blob(
    [
      [-0.26, 0],
      [-0.25, -0.22],
      [-0.14, -0.48],
      [0.14, -0.48],
      [0.25, -0.22],
      [0.26, 0],
    ],
    { from: main, to: dark, line: [0, -0.5, 0, 0.05] },
  );
  pen.blob(
    [
      [-0.12, -0.02],
      [-0.1, -0.3],
      [0, -0.4],
      [0.1, -0.3],
      [0.12, -0.02],
    ],
    lighten(main, 0.35),
  );
  for (const x of [-0.11, 0.11]) {
    pen.rect(x - 0.055, -0.26, 0.11, 0.26, main, 0.05);
    pen.ellipse(x, -0.025, 0.08, 0.035, lighten(main, 0.2));
  }
  for (const side of [-1, 1]) {
    pen.polygon(
      [
        [side * 0.25, -0.62],
        [side * 0.23, -0.99],
        [side * 0.05, -0.82],
      ],
      main,
    );
    pen.polygon(
      [
        [side * 0.21, -0.68],
        [side * 0.2, -0.9],
        [side * 0.1, -0.8],
      ],
      rgb(0xf0a6ae),
    );
  }
  pen.ellipse(0, -0.64, 0.29, 0.23, {
    from: lighten(main, 0.1),
    to: mix(main, dark, 0.45),
    line: [0, -0.85, 0, -0.4],
  });
  for (const x of [-0.05, 0.05]) pen.ellipse(x, -0.545, 0.075, 0.06, lighten(main, 0.4));
  for (const x of [-0.12, 0.12]) eye(pen, x, -0.67, 0.062, rgb(0x8fbf3f));
  pen.polygon(
    [
      [-0.03, -0.6],
      [0.03, -0.6],
      [0, -0.565],
    ],
    rgb(0xd8707a),
  );
  for (const side of [-1, 1]) {
    pen.curve(
      [
        [0, -0.565],
        [side * 0.03, -0.525],
        [side * 0.075, -0.535],
      ],
      0.011,
      ink,
    );
    for (const lift of [-0.03, 0.005, 0.04])
      pen.curve(
        [
          [side * 0.1, -0.55 + lift * 0.4],
          [side * 0.34, -0.56 + lift],
        ],
        0.007,
        fade(white, 0.85),
      );
    for (const stripe of [0, 1])
      pen.curve(
        [
          [side * 0.27, -0.66 + stripe * 0.06],
          [side * 0.2, -0.655 + stripe * 0.06],
        ],
        0.016,
        dark,
      );
  }
  for (const x of [-0.05, 0, 0.05])
    pen.stroke(
      [
        [x, -0.84],
        [x * 0.8, -0.78],
      ],
      0.016,
      dark,
    );
};

export const drawDog: Drawing = (pen, { main }) => {
  const dark = darken(main, 0.35);
  pen.curve(
    [
      [0.22, -0.16],
      [0.4, -0.28],
      [0.42, -0.44],
    ],
    0.06,
    main,
  );
  pen.blob(
    [
      [-0.24, 0],
      [-0.24, -0.25],
      [-0.13, -0.5],
      [0.13, -0.5],
      [0.24, -0.25],
      [0.25, 0],
    ],
    { from: main, to: dark, line: [0, -0.5, 0, 0.1] },
  );
  pen.ellipse(0, -0.26, 0.11, 0.18, lighten(main, 0.5));
  for (const x of [-0.12, 0.12]) {
    pen.rect(x - 0.06, -0.28, 0.12, 0.28, main, 0.05);
    pen.ellipse(x, -0.03, 0.085, 0.04, lighten(main, 0.4));
  }
  pen.ellipse(0, -0.7, 0.25, 0.24, { from: lighten(main, 0.12), to: main, line: [0, -0.95, 0, -0.5] });
  for (const side of [-1, 1])
    pen.blob(
      [
        [side * 0.16, -0.9],
        [side * 0.33, -0.82],
        [side * 0.36, -0.58],
        [side * 0.28, -0.48],
        [side * 0.2, -0.64],
      ],
      dark,
    );
  pen.ellipse(0, -0.61, 0.14, 0.12, lighten(main, 0.5));
  for (const x of [-0.1, 0.1]) {
    pen.circle(x, -0.75, 0.042, ink);
    pen.circle(x - 0.012, -0.765, 0.014, white);
  }
  pen.ellipse(0, -0.66, 0.055, 0.04, ink);
  pen.stroke(
    [
      [0, -0.63],
      [0, -0.59],
    ],
    0.012,
    ink,
  );
  pen.curve(
    [
      [-0.08, -0.59],
      [-0.04, -0.565],
      [0, -0.59],
      [0.04, -0.565],
      [0.08, -0.59],
    ],
    0.013,
    ink,
  );
  pen.blob(
    [
      [-0.03, -0.57],
      [0.03, -0.57],
      [0.035, -0.5],
      [0, -0.475],
      [-0.035, -0.5],
    ],
    rgb(0xe0707f),
  );
  pen.rect(-0.17, -0.49, 0.34, 0.045, rgb(0xc8342f), 0.02);
  pen.circle(0, -0.44, 0.035, rgb(0xf0c23c));
};

export const drawRabbit: Drawing = (pen, { main }) => {
  const dark = darken(main, 0.18);
  for (const side of [-1, 1]) {
    pen.ellipse(side * 0.09, -0.83, 0.06, 0.2, main, side * 0.03);
    pen.ellipse(side * 0.09, -0.82, 0.028, 0.15, rgb(0xf0b3bb), side * 0.03);
  }
  pen.circle(0.24, -0.12, 0.08, white);
  pen.ellipse(0, -0.21, 0.23, 0.22, { from: main, to: dark, line: [0, -0.4, 0, 0] });
  pen.ellipse(0, -0.17, 0.13, 0.15, lighten(main, 0.5));
  pen.ellipse(0, -0.5, 0.2, 0.17, { from: lighten(main, 0.15), to: main, line: [0, -0.7, 0, -0.35] });
  for (const x of [-0.14, 0.14]) pen.ellipse(x, -0.03, 0.11, 0.04, lighten(main, 0.3));
  for (const x of [-0.08, 0.08]) {
    pen.circle(x, -0.53, 0.032, ink);
    pen.circle(x - 0.01, -0.542, 0.011, white);
  }
  pen.ellipse(0, -0.475, 0.025, 0.018, rgb(0xe08a95));
  pen.rect(-0.022, -0.44, 0.044, 0.05, white, 0.01);
  for (const side of [-1, 1])
    pen.curve(
      [
        [0, -0.455],
        [side * 0.05, -0.435],
        [side * 0.07, -0.45],
      ],
      0.01,
      ink,
    );
};

export const drawFish: Drawing = (pen, { main, accent }) => {
  const dark = darken(main, 0.25);
  pen.polygon(
    [
      [-0.42, -0.5],
      [-0.8, -0.82],
      [-0.7, -0.5],
      [-0.8, -0.18],
    ],
    accent,
  );
  pen.blob(
    [
      [-0.2, -0.75],
      [0.05, -1],
      [0.25, -0.8],
    ],
    accent,
  );
  pen.blob(
    [
      [-0.05, -0.24],
      [-0.12, -0.06],
      [0.14, -0.2],
    ],
    accent,
  );
  pen.blob(
    [
      [-0.5, -0.5],
      [-0.2, -0.76],
      [0.25, -0.8],
      [0.6, -0.58],
      [0.64, -0.46],
      [0.25, -0.22],
      [-0.2, -0.26],
    ],
    { from: lighten(main, 0.25), to: dark, line: [0, -0.8, 0, -0.2] },
  );
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 4; column++) {
      const [x, y] = [-0.22 + column * 0.13 + (row % 2) * 0.06, -0.64 + row * 0.13];
      pen.curve(
        [
          [x, y - 0.05],
          [x + 0.045, y],
          [x, y + 0.05],
        ],
        0.014,
        fade(dark, 0.8),
      );
    }
  }
  pen.curve(
    [
      [0.33, -0.68],
      [0.27, -0.5],
      [0.33, -0.32],
    ],
    0.018,
    dark,
  );
  pen.circle(0.44, -0.58, 0.06, white);
  pen.circle(0.455, -0.58, 0.033, ink);
  pen.curve(
    [
      [0.63, -0.44],
      [0.55, -0.42],
      [0.51, -0.44],
    ],
    0.016,
    ink,
  );
};
