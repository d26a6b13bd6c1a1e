/** What a process has used: CPU time of all its threads, and resident memory. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const quietMs = 200;
const longestQuietMs = 5_000;
/** What an idle gateway uses for its timers in that time, and a little more. */
const quietCpuMs = 5;

/** User and system time. */
export function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return parseCpuTime(ps(pid, 'cputime'));
  // Nanoseconds, thread by thread: /proc/<pid>/stat counts in steps of 10 ms, too coarse for short rounds.
  const threads = readdirSync(`/proc/${pid}/task`);
  const ranNs = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
  );
  return ranNs.reduce((sum, ns) => sum + ns, 0) / 1e6;
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
    if (after - before <= quietCpuMs) return;
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
