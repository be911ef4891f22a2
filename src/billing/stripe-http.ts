import { Predicate } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"

/** A page of a hundred subscriptions has about a megabyte. */
const maxBytes = 20_000_000

/** Ends with the call of the SDK that a request is made for, with its retries and all its pages. */
export const callSignal = new AsyncLocalStorage<AbortSignal>()

const textOf = async ({ body }: Response) => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`it answered more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * `fetch` for Stripe's SDK, which takes any JSON for an answer, and ends the process on one that is no object. The body
 * is read here, so that the limits of time count for it, too. A redirect is none of Stripe's, and is not followed.
 */
export const stripeFetch: typeof fetch = async (input, init) => {
  const signals = [init?.signal, callSignal.getStore()].filter((signal) => signal instanceof AbortSignal)
  const answer = await fetch(input, { ...init, redirect: "manual", signal: AbortSignal.any(signals) })
  const text = await textOf(answer)
  const json = parsed(text)
  if (!Predicate.isRecord(json) || !answer.ok && !Predicate.isRecord(json["error"])) {
    throw new Error(`it answered ${answer.status} with something that is not of Stripe's API`)
  }
  return new Response(text, { status: answer.status, headers: answer.headers })
}
