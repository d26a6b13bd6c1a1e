/** `roundhouse models …`: what the gateway offers, read from the public list. */
import { get } from './client.ts';
import { type Command, jsonOption, printJson } from './command.ts';
import { toTable } from './table.ts';

interface ModelEntry {
  id: string;
  name?: string;
  context_length?: number | null;
  architecture?: { modality?: string | null };
}

const list: Command = {
  words: ['models', 'list'],
  operands: [],
  summary: 'List the models that the gateway offers',
  options: jsonOption,
  async run({ options, terminal, withDoor }) {
    const { data } = await withDoor((door) => get<{ data: ModelEntry[] }>(door, '/models'));
    if (options['json'] === true) printJson(terminal, data);
    else {
      const rows = data.map(({ id, name, context_length, architecture }) => [
        id,
        name ?? '-',
        architecture?.modality ?? '-',
        String(context_length ?? '-'),
      ]);
      terminal.stdout.write(toTable(['ID', 'NAME', 'MODALITY', 'CONTEXT'], rows));
    }
    return 0;
  },
};

export const modelCommands: readonly Command[] = [list];
