import type { ModelItem, ModelReply } from '../ports/model-client.ts';
import { redact } from '../rollout/redact.ts';

/** Providers take letters, digits and underscores alone for a name, so it cannot be the usual mark. */
const NAMELESS_TOOL = 'redacted';

/**
 * A reply without the secrets that the model wrote: in what it says, in the arguments of its tool calls and in both as they
 * are sent back with every later call (DV-6). Done before anything is made of it, so that tools, conversation and the stored
 * step see the same: an edit then finds the text that the write before it left. Arguments that are JSON stay JSON. A
 * provider's own elements stay as they came, for it takes them back in no other form.
 */
export function redactReply(reply: ModelReply): ModelReply {
  if (reply.kind !== 'reply') return reply;
  return {
    ...reply,
    text: redact(reply.text),
    toolCalls: reply.toolCalls.map(redactCall),
    items: reply.items.map(redactItem),
  };
}

function redactItem(item: ModelItem): ModelItem {
  switch (item.kind) {
    case 'message':
    case 'tool_result':
      return { ...item, text: redact(item.text) };
    case 'tool_call':
      return redactCall(item);
    case 'opaque':
      return item;
  }
}

function redactCall<T extends { readonly name: string; readonly arguments: string }>(call: T): T {
  const name = redact(call.name) === call.name ? call.name : NAMELESS_TOOL;
  return { ...call, name, arguments: redact(call.arguments) };
}
