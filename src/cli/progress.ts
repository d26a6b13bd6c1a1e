/** How long work is shown: a bar that is drawn over on a terminal, a line now and then elsewhere. */
import type { Terminal } from './command.ts';

export interface Progress {
  update(received: number, total: number): void;
  /** Leaves the terminal as it was. */
  end(): void;
}

const barWidth = 30;
const lineEveryPercent = 10;

export function createProgress(title: string, { stderr }: Terminal): Progress {
  let shown: number | undefined;
  const step = stderr.isTTY === true ? 1 : lineEveryPercent;
  return {
    update(received, total) {
      const percent = Math.floor((received / total) * 100);
      const reached = percent - (percent % step);
      if (reached === shown) return;
      shown = reached;
      const amount = `${toMega(received)} of ${toMega(total)} MB`;
      stderr.write(
        stderr.isTTY === true
          ? `\r${title}  ${toBar(percent)} ${String(percent).padStart(3)} %  ${amount}\u001b[K`
          : `${title}: ${percent} %, ${amount}\n`,
      );
    },
    end() {
      if (stderr.isTTY === true && shown !== undefined) stderr.write('\r\u001b[K');
    },
  };
}

function toBar(percent: number): string {
  const full = Math.round((percent / 100) * barWidth);
  return `[${'#'.repeat(full)}${'·'.repeat(barWidth - full)}]`;
}

function toMega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
