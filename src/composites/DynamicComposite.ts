import { PageOf } from "#src/shared/paging.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { CompositeMember, CompositeSummary } from "./Member.ts"
import { QueryDefinition } from "./QueryDefinition.ts"

/** A composite that a dynamic query computed (contract: Composite skill). */
const DynamicComposite = Schema.Struct({
  id: Schema.String.annotations({
    description:
      "Of the vertical, state and city, and of their system composite, if there is one; nothing else is kept under it"
  }),
  created_by: Schema.Literal("system"),
  userId: Schema.Null,
  name: Schema.String,
  slug: Schema.String,
  description: Schema.String,
  visibility: Schema.Literal("public"),
  query_definition: QueryDefinition.annotations({ description: "What to make a composite of these members of" }),
  ...CompositeSummary.fields,
  skillMdUrl: Schema.NullOr(Schema.String).annotations({
    description: "Of the system composite of this vertical, state and city, if there is one"
  }),
  expiresAt: Schema.Null,
  promotedAt: Schema.Null,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  members: Schema.Array(CompositeMember).annotations({ description: "The best ten" })
}).annotations({ title: "DynamicComposite" })

export const DynamicPage = PageOf(DynamicComposite)
