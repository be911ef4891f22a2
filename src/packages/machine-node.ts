import { Schema } from "effect"

/** The versions of Node that a package's machine may have, the newest last. */
export const nodeChoices = ["20", "22", "24"] as const
export type NodeChoice = (typeof nodeChoices)[number]

export const NodeChoice = Schema.Literal(...nodeChoices).annotations({
  description: "Of an npm package: the Node.js of its machine, 20, 22 or 24; the newest by default"
})

/** The Node of a machine. */
export interface MachineNode {
  /** Such as "24.1.0". */
  readonly version: string
  /** Its program on this host. */
  readonly binary: string
}

/** The Node that runs this. */
export const hostNode: MachineNode = { version: process.versions.node, binary: process.execPath }
