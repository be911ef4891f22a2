import { Layer } from "effect"
import { CompositeMembers } from "./CompositeMembers.ts"
import { MembersRepo } from "./MembersRepo.ts"

export const CompositesLive = Layer.provide(CompositeMembers.Default, MembersRepo.Default)
