/**
 * Tells how much memory the process had at most. Linux lets a process inherit the peak of the one that started it
 * (`getrusage(2)`: ru_maxrss survives an execve), so a gateway of 600 MB would make a process of 40 look as large. What
 * the kernel writes into `/proc` is the process's own; the file is opened before the process is sealed.
 */
import { openSync, readSync } from 'node:fs';

const statusFile = '/proc/self/status';
const statusBytes = 4_096;
const bytesPerKilobyte = 1024;

export function openScale(): () => number {
  const told = () => process.resourceUsage().maxRSS * bytesPerKilobyte;
  let descriptor: number;
  try {
    descriptor = openSync(statusFile, 'r');
  } catch {
    // Not on Linux.
    return told;
  }
  const status = Buffer.alloc(statusBytes);
  return () => {
    const length = readSync(descriptor, status, 0, statusBytes, 0);
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status.toString('latin1', 0, length)) ?? [];
    return kilobytes === undefined ? told() : Number(kilobytes) * bytesPerKilobyte;
  };
}
