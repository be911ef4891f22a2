import { Effect, FiberRef } from "effect"

type Make = (...parts: ReadonlyArray<unknown>) => (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>

/**
 * `Effect.fn` for what every call does: where nobody collects traces it makes no span, which takes more steps than much of
 * what it would measure.
 */
export const traced = (name: string) => {
  const make: Make = (...parts) => {
    const spanned = (Effect.fn(name) as Make)(...parts)
    const plain = (Effect.fnUntraced as Make)(...parts)
    return (...args) =>
      Effect.withFiberRuntime((fiber) => (fiber.getFiberRef(FiberRef.currentTracerEnabled) ? spanned : plain)(...args))
  }
  return make as Effect.fn.Gen
}
