// Exports of `twinline/agent`: the agent service without HTTP, and the interfaces of its responders and tools.

export { type Agent, openAgent } from './agent.ts';
export { AGENT_KINDS } from './kinds.ts';
export {
  type McpServer,
  type Pass,
  type PassOptions,
  passes,
  type SpentTokens,
  spentTokens,
} from './mcp/invocation.ts';
export { type Mcp, type McpOptions, openMcp } from './mcp/servers.ts';
export type { AgentOptions, RunReport, RunStart } from './options.ts';
export type { CallAnswer, Multitask, SendRequest, Sent } from './requests.ts';
export type {
  HostTool,
  Responder,
  ResponderPart,
  ResponderTurn,
  TokenUsage,
  ToolBox,
  ToolContext,
  ToolDescription,
  ToolKind,
  ToolOutcome,
  TurnSecrets,
} from './responder.ts';
export type { ModelEndpoint } from './responders/chat-completions.ts';
export { type FlowResponder, type FlowResponderOptions, flowResponder, TOOL_SERVICE } from './responders/flow.ts';
export type { LanguageModel, ModelCall, StreamPart } from './responders/language-model.ts';
export { type ModelOptions, modelResponder } from './responders/model.ts';
export { ROOM_EVENTS, type Room, type RoomEvent } from './room.ts';
export type { FaultKind, FrameData, FrameName, RunFault } from './run/frame-data.ts';
export type { Following, FollowRequest, RunFrame, RunOutcome } from './run/frames.ts';
export type { RunRequest, RunView, ToolDeclaration } from './run/run.ts';
export type { Message, MessagePage, MessageToolCall } from './session/message.ts';
export type { ChatSession, Oracle } from './session/session.ts';
