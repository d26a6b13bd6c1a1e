/** Houses, and the boat that lies before them. */
import { darken, fade, lighten, mix, rgb, white } from '../colour.ts';
import type { Pen } from '../pen.ts';
import { type Drawing, glass, iron, type Look, lamp, pane } from './look.ts';

function pennant(pen: Pen, x: number, y: number, colour: Look['main']): void {
  pen.rect(x - 0.006, y - 0.16, 0.012, 0.16, iron);
  pen.polygon(
    [
      [x, y - 0.16],
      [x + 0.12, y - 0.125],
      [x, y - 0.09],
    ],
    colour,
  );
}

export const drawHouse: Drawing = (pen, look) => {
  const { main, accent } = look;
  const wall = lighten(main, 0.55);
  pen.rect(0.2, -0.95, 0.1, 0.3, rgb(0x9a5a48));
  pen.rect(-0.4, -0.55, 0.8, 0.55, {
    from: lighten(wall, 0.2),
    to: darken(wall, 0.15),
    line: [-0.4, 0, 0.4, 0],
  });
  pen.polygon(
    [
      [-0.52, -0.52],
      [0, -1],
      [0.52, -0.52],
    ],
    { from: lighten(main, 0.05), to: darken(main, 0.3), line: [-0.3, -0.9, 0.4, -0.5] },
  );
  for (let row = 1; row < 5; row++) {
    const y = -1 + row * 0.1;
    pen.stroke(
      [
        [-0.108 * row, y],
        [0.108 * row, y],
      ],
      0.009,
      fade(darken(main, 0.5), 0.6),
    );
  }
  pen.rect(-0.09, -0.34, 0.18, 0.34, darken(accent, 0.3), 0.02);
  pen.circle(0.055, -0.16, 0.016, lamp);
  for (const x of [-0.26, 0.26]) {
    pen.rect(x - 0.09, -0.42, 0.18, 0.18, white, 0.01);
    pen.rect(x - 0.075, -0.405, 0.15, 0.15, pane(look));
    pen.rect(x - 0.006, -0.405, 0.012, 0.15, white);
    pen.rect(x - 0.075, -0.336, 0.15, 0.012, white);
  }
  pen.circle(0, -0.7, 0.07, white);
  pen.circle(0, -0.7, 0.052, pane(look));
};

export const drawCastle: Drawing = (pen, look) => {
  const stone = mix(look.main, rgb(0xa9a5a0), 0.65);
  const tower = (x: number, wide: number, tall: number) => {
    pen.rect(x - wide / 2, -tall, wide, tall, {
      from: lighten(stone, 0.18),
      to: darken(stone, 0.25),
      line: [x - wide / 2, 0, x + wide / 2, 0],
    });
    for (let tooth = 0; tooth < 3; tooth++)
      pen.rect(x - wide / 2 + (tooth * wide) / 2.5, -tall - 0.045, wide / 5, 0.05, stone);
    pen.rect(x - 0.022, -tall + 0.12, 0.044, 0.1, look.dark > 0.3 ? lamp : iron, 0.02);
  };
  const roof = (x: number, wide: number, y: number) => {
    pen.polygon(
      [
        [x - wide, y],
        [x, y - 0.22],
        [x + wide, y],
      ],
      { from: lighten(look.accent, 0.1), to: darken(look.accent, 0.3), line: [x - wide, 0, x + wide, 0] },
    );
    pennant(pen, x, y - 0.2, look.main);
  };
  tower(0, 0.3, 0.68);
  roof(0, 0.19, -0.7);
  pen.rect(-0.42, -0.4, 0.84, 0.4, { from: stone, to: darken(stone, 0.2), line: [0, -0.4, 0, 0] });
  for (let tooth = 0; tooth < 9; tooth++) pen.rect(-0.42 + tooth * 0.095, -0.45, 0.05, 0.055, stone);
  for (const x of [-0.42, 0.42]) {
    tower(x, 0.2, 0.56);
    roof(x, 0.13, -0.58);
  }
  pen.rect(-0.09, -0.24, 0.18, 0.3, rgb(0x4a3222), 0.09);
  pen.rect(-0.09, -0.06, 0.18, 0.06, rgb(0x4a3222));
  for (let stone_ = 0; stone_ < 14; stone_++)
    pen.rect(
      -0.36 + look.random.next() * 0.68,
      -0.36 + look.random.next() * 0.3,
      0.045,
      0.018,
      fade(darken(stone, 0.35), 0.45),
    );
};

export const drawLighthouse: Drawing = (pen, look) => {
  const { main, dark } = look;
  pen.blob(
    [
      [-0.4, 0.02],
      [-0.3, -0.08],
      [0, -0.11],
      [0.3, -0.08],
      [0.4, 0.02],
    ],
    rgb(0x77716a),
  );
  if (dark > 0.2) {
    for (const side of [-1, 1])
      pen.polygon(
        [
          [0, -0.87],
          [side * 1.5, -1.05],
          [side * 1.5, -0.68],
        ],
        { from: fade(lamp, 0.6), to: fade(lamp, 0), line: [0, 0, side * 1.5, 0] },
      );
  }
  const edge = (y: number) => 0.1 + 0.07 * (1 + y / 0.8);
  for (let band = 0; band < 5; band++) {
    const [low, high] = [-0.06 - band * 0.15, -0.06 - (band + 1) * 0.15];
    const colour = band % 2 === 0 ? main : white;
    pen.polygon(
      [
        [-edge(low), low],
        [-edge(high), high],
        [edge(high), high],
        [edge(low), low],
      ],
      { from: lighten(colour, 0.1), to: darken(colour, 0.3), line: [-0.15, 0, 0.17, 0] },
    );
  }
  pen.rect(-0.15, -0.83, 0.3, 0.035, iron, 0.01);
  pen.rect(-0.08, -0.92, 0.16, 0.1, lamp);
  pen.polygon(
    [
      [-0.11, -0.91],
      [0, -1.02],
      [0.11, -0.91],
    ],
    main,
  );
  pen.rect(-0.035, -0.18, 0.07, 0.13, iron, 0.03);
};

export const drawBoat: Drawing = (pen, { main, accent, dark }) => {
  pen.rect(-0.012, -0.98, 0.024, 0.8, rgb(0x6b4a2e));
  const sail = mix(rgb(0xfffaf0), rgb(0x6a76a0), dark * 0.35);
  pen.blob(
    [
      [0.03, -0.95],
      [0.22, -0.62],
      [0.4, -0.27],
      [0.22, -0.25],
      [0.03, -0.26],
      [0.03, -0.6],
    ],
    { from: sail, to: darken(sail, 0.18), line: [0, 0, 0.4, 0] },
  );
  pen.polygon(
    [
      [-0.03, -0.88],
      [-0.03, -0.27],
      [-0.34, -0.27],
    ],
    { from: accent, to: lighten(accent, 0.3), line: [0, 0, -0.34, 0] },
  );
  pennant(pen, 0, -0.94, main);
  pen.blob(
    [
      [-0.52, -0.22],
      [-0.2, -0.19],
      [0.2, -0.19],
      [0.56, -0.24],
      [0.42, -0.02],
      [0.2, 0.03],
      [-0.25, 0.03],
      [-0.42, -0.03],
    ],
    { from: lighten(main, 0.12), to: darken(main, 0.3), line: [0, -0.24, 0, 0.03] },
  );
  pen.curve(
    [
      [-0.48, -0.15],
      [0, -0.13],
      [0.5, -0.16],
    ],
    0.02,
    white,
  );
  for (const x of [-0.2, 0, 0.2]) pen.circle(x, -0.07, 0.026, dark > 0.3 ? lamp : glass);
  pen.ellipse(0, 0.035, 0.52, 0.022, fade(white, 0.5));
};
