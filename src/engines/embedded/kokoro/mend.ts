/**
 * Puts one division of the published model right. It takes the angle of every frequency by dividing its two parts;
 * where both are nothing that is no number, and by the averages further on all of the sound is lost: one text in
 * twenty, by pure chance. Here a divisor of zero becomes the least number instead. The file on the disk stays as it
 * was published.
 *
 * A model is a protobuf message, in which a message that stands twice is merged: what is added goes to the end.
 */
const prefix = '/decoder/decoder/generator/';
const divisor = `${prefix}Gather_4_output_0`;
const zero = `${prefix}Constant_20_output_0`;
/** Of the same length as the one it takes the place of. */
const mended = `${prefix}Gather_Z_output_0`;

const fields = { graph: 7, node: 1, initializer: 5 } as const;
const nodeFields = { input: 1, output: 2, operator: 4 } as const;
const tensorFields = { type: 2, name: 8, bytes: 9 } as const;
const halfPrecision = 10;
/** The least normal number in half precision. */
const least = Buffer.from([0x00, 0x04]);

/** A file that is another model comes back as it is. */
export function mendModel(file: Buffer): Buffer {
  const inputs = [text(nodeFields.input, `${prefix}Gather_5_output_0`), text(nodeFields.input, divisor)];
  const division = Buffer.concat([...inputs, text(nodeFields.output, `${prefix}Div_output_0`)]);
  const at = file.indexOf(division);
  if (at < 0) return file;
  const added = part(
    fields.graph,
    toNode('Equal', [divisor, zero], 'divisor_is_zero'),
    toNode('Where', ['divisor_is_zero', 'least_divisor', divisor], mended),
    part(
      fields.initializer,
      Buffer.from([tensorFields.type << 3, halfPrecision]),
      text(tensorFields.name, 'least_divisor'),
      part(tensorFields.bytes, least),
    ),
  );
  const result = Buffer.concat([file, added]);
  const [first] = inputs as [Buffer, Buffer];
  text(nodeFields.input, mended).copy(result, at + first.length);
  return result;
}

function toNode(operator: string, inputs: readonly string[], output: string): Buffer {
  return part(
    fields.node,
    ...inputs.map((input) => text(nodeFields.input, input)),
    text(nodeFields.output, output),
    text(nodeFields.operator, operator),
  );
}

function text(field: number, value: string): Buffer {
  return part(field, Buffer.from(value));
}

/** A field with its length before it, as protobuf writes it. */
function part(field: number, ...bodies: readonly Buffer[]): Buffer {
  const body = Buffer.concat(bodies);
  const head = [(field << 3) | 2];
  let rest = body.length;
  for (; rest > 0x7f; rest >>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), body]);
}
