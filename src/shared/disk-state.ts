/** `scarce`: less than twice the reserve is free, and the operator is warned. `low`: less than the reserve. */
export type DiskState = "enough" | "scarce" | "low"

/** Hysteresis: a state ends only when this much more than its mark is free, so that it does not flap. */
const margin = 1.1

/** The state for the free bytes and the reserve (0: none), with hysteresis relative to the previous state. */
export const stateOf = (free: number, reserve: number, before: DiskState): DiskState => {
  const below = (mark: number, wasBelow: boolean) => free < mark * (wasBelow ? margin : 1)
  if (below(reserve, before === "low")) return "low"
  return below(2 * reserve, before !== "enough") ? "scarce" : "enough"
}
