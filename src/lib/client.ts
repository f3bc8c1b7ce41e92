import { CrabError } from '../core/base/errors.ts'
import {
  AgentEventKind,
  type AgentEventMsg,
  ApprovalMode,
  type AskUserEvent,
  type AttachEvent,
  type ConversationList,
  type MessageList,
  OnAsk,
  type RunResult,
  type SendResponse,
  type SessionHits,
  type StreamEvent,
  type StreamMsg,
  ToolSet,
} from '../core/protocol/crabtalk.generated.ts'
import type { Dispatch } from '../core/protocol/dispatch.ts'
import type { Operation, ReplyOf, RequestOf } from '../core/protocol/operations.ts'
import type { SocketEndpoint } from '../core/transport/endpoint.ts'
import {
  type Answer,
  type Client,
  type ClientAddress,
  createClient,
  type TurnChoices,
  type TurnEvent,
} from './agents-client.ts'
import { type ClientOptions, connect } from './connect.ts'

export type {
  AgentEventMsg,
  Answer,
  AskUserEvent,
  AttachEvent,
  Client,
  ClientAddress as Address,
  ClientOptions as ConnectOptions,
  ConversationList,
  Dispatch,
  MessageList,
  Operation,
  ReplyOf,
  RequestOf,
  RunResult,
  SendResponse,
  SessionHits,
  SocketEndpoint as Endpoint,
  StreamEvent,
  StreamMsg,
  TurnChoices,
  TurnEvent,
}
// The entry `crabtalk/client` of the package.
export { AgentEventKind, ApprovalMode, CrabError, connect, createClient, OnAsk, ToolSet }
