/**
 * Ids of tool calls: `call_…` between us and the engines, `toolu_…` in the messages format. Only the prefix is
 * exchanged, so that a result finds its call again without anything being kept. Other forms stay as they are. Pure.
 */
const engineId = /^call_/;
const wireId = /^toolu_/;

export function toToolUseId(callId: string): string {
  return callId.replace(engineId, 'toolu_');
}

export function toCallId(toolUseId: string): string {
  return toolUseId.replace(wireId, 'call_');
}
