import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { BrowseParameters } from "#src/composites/browse-query.ts"
import {
  AlreadyPromoted,
  BadCompositeId,
  ChangedComposite,
  Composite,
  CompositeDetail,
  CompositeNotFound,
  NewComposite,
  OwnComposites,
  PromotionNeedsTier,
  SystemComposite,
  TooManyAgentComposites,
  TooManyComposites
} from "#src/composites/Composite.ts"
import { CompositesParameters } from "#src/composites/CompositesQuery.ts"
import { DynamicPage } from "#src/composites/DynamicComposite.ts"
import { HubReadsExceeded } from "#src/hub/HubKey.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { PageOf } from "#src/shared/paging.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { NoAgentVisibility } from "./agent-visibility.ts"

const root = "/v1/hub/composites"
const one = `${root}/:compositeId` as const
const compositePath = Schema.Struct({ compositeId: Schema.String })

const query = HttpApiEndpoint.get("query", root)
  .setUrlParams(CompositesParameters)
  .addSuccess(DynamicPage)
  .addError(BadQuery)
  .addError(HubReadsExceeded)
  .annotate(OpenApi.Summary, "Compute composites: listings of a vertical in a city, as one")
  .annotate(
    OpenApi.Description,
    "With a hub key, or signed in (a session or an OAuth token: as many requests a day as the account's best hub key has, " +
      "or 100). Listings that match and have a health score of 50 or more, grouped by vertical, state and city, as they " +
      "are at this moment; one without an industry (`custom` is none) or without a city is in no group: its owner sets them " +
      "by PATCH /api/v1/ready/businesses/{id}. Best first: compositeTrust (the lowest verification tier) × avgHealthScore × the mean weight of " +
      "the listing tiers (basic 1, featured 2, premium 3), then by id. A cursor goes with the filters it was given for. None is kept: POST its query_definition."
  )

const browse = HttpApiEndpoint.get("browse", `${root}/browse`)
  .setUrlParams(BrowseParameters)
  .addSuccess(PageOf(Composite))
  .addError(BadQuery)
  .addError(HubReadsExceeded)
  .annotate(OpenApi.Summary, "Browse the public composites, best first")
  .annotate(
    OpenApi.Description,
    "With a hub key, or signed in, as for the query above. The platform's composites, and those that accounts published: by compositeTrust, then memberCount, " +
      "then avgHealthScore, each highest first, then by id. Values are of this moment; which page a composite is on " +
      "follows within a minute or, with very many composites, a few."
  )

const mine = HttpApiEndpoint.get("mine", `${root}/mine`)
  .addSuccess(OwnComposites)
  .annotate(OpenApi.Summary, "List your account's composites, newest first")
  .annotate(
    OpenApi.Description,
    "With a hub key or a session. Newest first by createdAt, then by id. At most 200; when there are more, `truncated` " +
      "and the header `X-Truncated` are true."
  )

const create = HttpApiEndpoint.post("create", root)
  .setPayload(NewComposite)
  .addSuccess(Data(Composite), { status: 201 })
  .addError(Invalid)
  .addError(BadQuery)
  .addError(TooManyAgentComposites)
  .addError(TooManyComposites)
  .middleware(NoAgentVisibility)
  .annotate(OpenApi.Summary, "Make a composite: listings that satisfy a query, under a name")
  .annotate(
    OpenApi.Description,
    "With a hub key it is an agent composite (`created_by` agent): private, gone after 30 days unless promoted, at most 50 " +
      "an account (429 limit_exceeded), and `visibility` is refused. With a session it is the user's: private by default, " +
      "without an end. Its members are found anew on each read: active listings that satisfy `query_definition`, of a " +
      "health score of 50 or more."
  )

const get = HttpApiEndpoint.get("get", one)
  .setPath(compositePath)
  .addSuccess(Data(CompositeDetail))
  .addError(BadCompositeId)
  .addError(CompositeNotFound)
  .annotate(OpenApi.Summary, "Read a composite with its members, best first")
  .annotate(
    OpenApi.Description,
    "With a hub key or a session. Public ones, and those of your account. At most 50 members are shown; the counts are " +
      "of all."
  )

const update = HttpApiEndpoint.patch("update", one)
  .setPath(compositePath)
  .setPayload(ChangedComposite)
  .addSuccess(Data(Composite))
  .addError(Invalid)
  .addError(BadCompositeId)
  .addError(BadQuery)
  .addError(CompositeNotFound)
  .addError(SystemComposite)
  .annotate(OpenApi.Summary, "Change a composite of your account")
  .annotate(
    OpenApi.Description,
    "With a hub key or a session; at least one field. An agent composite is made public by promotion only, and stays so. " +
      "The platform's can't be changed (403)."
  )

const remove = HttpApiEndpoint.del("delete", one)
  .setPath(compositePath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(BadCompositeId)
  .addError(CompositeNotFound)
  .addError(SystemComposite)
  .annotate(OpenApi.Summary, "Delete a composite of your account")

const promote = HttpApiEndpoint.post("promote", `${one}/promote`)
  .setPath(compositePath)
  .addSuccess(Data(Composite))
  .addError(BadCompositeId)
  .addError(CompositeNotFound)
  .addError(SystemComposite)
  .addError(PromotionNeedsTier)
  .addError(AlreadyPromoted)
  .addError(TooManyComposites)
  .middleware(NoBody)
  .annotate(OpenApi.Summary, "Publish a composite of your account for good")
  .annotate(
    OpenApi.Description,
    "With a hub key of tier builder or higher, or a session of an account that has one (403 otherwise). It becomes public, shows in browse, " +
      "and no longer expires. A second time is 409."
  )

const skill = HttpApiEndpoint.get("skill", `${one}/skill.md`)
  .setPath(compositePath)
  .addSuccess(HttpApiSchema.Text({ contentType: "text/markdown; charset=utf-8" }))
  .addError(BadCompositeId)
  .addError(CompositeNotFound)
  .annotate(OpenApi.Summary, "Read a composite as a skill for agents (SKILL.md)")
  .annotate(
    OpenApi.Description,
    "With a hub key or a session. Markdown with YAML frontmatter of `hub:` keys; its members best first, with URL, tier, " +
      "health and tools, and why each is there. Made on each request; has an ETag."
  )

export class HubCompositesApi extends HttpApiGroup.make("hubComposites")
  .add(query)
  .add(browse)
  .add(mine)
  .add(create)
  .add(get)
  .add(update)
  .add(remove)
  .add(promote)
  .add(skill)
  .middleware(Authentication)
  .annotate(RouteTraits, { credential: "hub", takes: "sessionOrHubKey", rate: "hub" })
  .annotate(OpenApi.Title, "Composites")
{}
