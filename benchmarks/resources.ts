/** What a process has used: CPU time of all its threads, and resident memory. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** USER_HZ, the unit of /proc/<pid>/stat: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;
const quietMs = 200;
const longestQuietMs = 5_000;

/** User and system time. */
export function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return parseCpuTime(ps(pid, 'cputime'));
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold spaces; utime and stime are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

export function residentMb(pid: number): number {
  if (process.platform !== 'linux') return Number(ps(pid, 'rss')) / 1024;
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Waits until the work that follows answers (rows to the database, garbage) is done: it is part of their price. */
export async function settled(pid: number): Promise<void> {
  const deadline = performance.now() + longestQuietMs;
  for (let before = cpuMs(pid); performance.now() < deadline; ) {
    await sleep(quietMs);
    const after = cpuMs(pid);
    if (after - before <= 1000 / ticksPerSecond) return;
    before = after;
  }
}

function ps(pid: number, column: string): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/** `1:02.34` or `01:02:03` as milliseconds. */
function parseCpuTime(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
}
