import type { GuardedHttpError } from "#src/shared/GuardedHttp.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { Schema } from "effect"

/**
 * Why an image cannot be used. `invalid_reference`: the address is malformed; `not_allowed`: the address may not be
 * used here (a private host, `oci:` in production); `invalid_image`: the registry or layout has something that is not
 * an image; `over_budget`: it unpacks to more than the caller allows; `hostile_layer`: a layer tries to leave its root;
 * `storage`: this machine's disk failed. Of a push: `full`: the registry has no room; `not_taken`: it does not take it;
 * `over_plan`: the account's plan has no room.
 */
export class ImageError extends Schema.TaggedError<ImageError>()("ImageError", {
  reason: Schema.Literal(
    "invalid_reference",
    "not_allowed",
    "not_found",
    "unauthorized",
    "wrong_architecture",
    "digest_mismatch",
    "unreachable",
    "too_large",
    "full",
    "not_taken",
    "over_plan",
    "over_budget",
    "unsupported",
    "invalid_image",
    "hostile_layer",
    "storage"
  ),
  message: Schema.String
}) {}

export type ImageErrorReason = ImageError["reason"]

/** Makes the message safe to print: it may quote text of a registry, a layout or a layer. */
export const imageError = (reason: ImageErrorReason, message: string) =>
  new ImageError({ reason, message: quotable(message) })

/** Keeps an ImageError; turns any other error into a failure of this machine's disk. */
export const storageError = (doing: string) => (cause: unknown): ImageError =>
  cause instanceof ImageError
    ? cause
    : imageError("storage", `${doing} failed: ${cause instanceof Error ? cause.message : String(cause)}`)

const reasons: Readonly<Record<GuardedHttpError["reason"], ImageErrorReason>> = {
  refused: "not_allowed",
  unreachable: "unreachable",
  timeout: "unreachable",
  too_large: "too_large"
}

export const fromGuard = (error: GuardedHttpError) => imageError(reasons[error.reason], error.message)
