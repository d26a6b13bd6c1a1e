/** Colours as the sandbox's painter mixes them: red, green, blue from 0 to 255, and how much of them there is. */

export interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
  /** 0 is clear, 1 covers. */
  readonly a: number;
}

export function rgb(hex: number, a = 1): Colour {
  return { r: (hex >> 16) & 0xff, g: (hex >> 8) & 0xff, b: hex & 0xff, a };
}

/** `hue` in degrees, `saturation` and `lightness` from 0 to 1. */
export function hsl(hue: number, saturation: number, lightness: number, a = 1): Colour {
  const turn = (((hue % 360) + 360) % 360) / 30;
  const most = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const k = (offset + turn) % 12;
    return 255 * (lightness - most * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return { r: part(0), g: part(8), b: part(4), a };
}

/** `share` of the second colour, from 0 to 1. */
export function mix(one: Colour, other: Colour, share: number): Colour {
  const between = (a: number, b: number) => a + (b - a) * share;
  return {
    r: between(one.r, other.r),
    g: between(one.g, other.g),
    b: between(one.b, other.b),
    a: between(one.a, other.a),
  };
}

export const white = rgb(0xffffff);
export const black = rgb(0x101018);

export function lighten(colour: Colour, share: number): Colour {
  return { ...mix(colour, white, share), a: colour.a };
}

export function darken(colour: Colour, share: number): Colour {
  return { ...mix(colour, black, share), a: colour.a };
}

export function fade(colour: Colour, a: number): Colour {
  return { ...colour, a };
}

export function luminance({ r, g, b }: Colour): number {
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}
