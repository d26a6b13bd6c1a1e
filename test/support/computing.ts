/**
 * How long the thread of the test computed: for what must be quick by itself. Not the time on the clock, which on a
 * busy machine is also what others computed.
 */
export function computing(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
}
