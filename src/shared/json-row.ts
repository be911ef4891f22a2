import { Predicate, Schema } from "effect"

type Checks = Readonly<Record<string, Predicate.Refinement<unknown, unknown>>>
type Checked<C extends Checks> = {
  readonly [K in keyof C]: C[K] extends Predicate.Refinement<unknown, infer A> ? A : never
}

/** A value whose fields pass their checks. */
export const isRowOf = <C extends Checks>(checks: C) => {
  const all = Object.entries(checks)
  return (value: unknown): value is Checked<C> =>
    Predicate.isRecord(value) && all.every(([name, check]) => check(value[name]))
}

export const isListOf = <A>(check: Predicate.Refinement<unknown, A>) => (value: unknown): value is ReadonlyArray<A> =>
  Array.isArray(value) && value.every(check)

export const isNullOr = <A>(check: Predicate.Refinement<unknown, A>) => (value: unknown): value is A | null =>
  value === null || check(value)

export const isAmong = <A>(values: ReadonlyArray<A>) => (value: unknown): value is A =>
  values.some((one) => one === value)

/**
 * A row in JSON that a statement of ours made, where there are hundreds: it is checked and passed on as it is. A schema of
 * its fields would make it anew, which takes several times as long.
 */
export const JsonRow = <A>(check: Predicate.Refinement<unknown, A>) => Schema.declare(check)
