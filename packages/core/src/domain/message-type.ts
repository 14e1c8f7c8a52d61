import type { MessageType } from './records.js';
import { messageTypes } from './records.js';

export function isMessageType(value: string): value is MessageType {
  return messageTypes.some((type) => type === value);
}
