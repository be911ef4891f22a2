/** `scarce`: less than twice the reserve is free, and the operator is warned. `low`: less than the reserve. */
export type DiskState = "enough" | "scarce" | "low"

/** So much more than a mark must be free before it counts as left behind: a disk at the mark does not go to and fro. */
const margin = 1.1

/** How much is free, against a reserve (0 is none); the state before decides which side of a mark it is still on. */
export const stateOf = (free: number, reserve: number, before: DiskState): DiskState => {
  const below = (mark: number, counted: boolean) => free < mark * (counted ? margin : 1)
  if (below(reserve, before === "low")) return "low"
  return below(2 * reserve, before !== "enough") ? "scarce" : "enough"
}
