/**
 * Takes from the process what it would need to open anything: every free file descriptor. Whatever a file makes
 * FFmpeg believe, opening a file or a socket then fails in the kernel. It works because the process was started
 * with a low hard limit; where none could be set, all is given back and the answer is false.
 */
import { closeSync, openSync } from 'node:fs';

const mostDescriptors = 256;

export function sealProcess(): boolean {
  const taken: number[] = [];
  try {
    while (taken.length < mostDescriptors) taken.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return true;
  }
  for (const descriptor of taken) closeSync(descriptor);
  return false;
}
