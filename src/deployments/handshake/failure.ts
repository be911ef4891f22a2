import { Data } from "effect"

/** Why a step of the handshake did not work. */
export type Cause =
  /** An HTTP status in place of an answer. */
  | { readonly _tag: "Status"; readonly status: number }
  /** It takes no requests for the `Host` that the gateway sends. */
  | { readonly _tag: "HostRefused"; readonly status: number }
  /** A JSON-RPC error. */
  | { readonly _tag: "Error"; readonly code: number; readonly message: string }
  /** An answer that is no MCP; `what` completes "answered …". */
  | { readonly _tag: "NotMcp"; readonly what: string }
  /** No whole answer; `why` completes "gave no usable answer: …". */
  | { readonly _tag: "Lost"; readonly why: string }
  | { readonly _tag: "Silent" }

/** The handshake failed at `path`, in the request `method`. */
export class HandshakeFailed extends Data.Error<{
  readonly path: string
  readonly method: string
  readonly cause: Cause
}> {}

/** JSON-RPC's "method not found", of a server that does not offer what is asked for. */
export const isMethodUnknown = (error: unknown) =>
  error instanceof HandshakeFailed && error.cause._tag === "Error" && error.cause.code === -32601
