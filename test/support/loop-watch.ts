/**
 * How long the event loop was kept busy at a stretch: the time that its own thread computed between two turns. Not the
 * time on the clock, which on a busy machine is also what others computed.
 */
const everyMs = 5;

export function watchLoop(): { stop(): { longestMs: number; grownBytes: number } } {
  let longestMs = 0;
  const before = process.memoryUsage.rss();
  let most = before;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1000);
    most = Math.max(most, process.memoryUsage.rss());
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return { longestMs, grownBytes: most - before };
    },
  };
}
