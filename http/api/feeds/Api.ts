import { RouteTraits } from "#http/traits/Traits.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { ChangesTokenExpired, FeedPage, FeedQuery } from "#src/syndication/FeedEntry.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class FeedsApi extends HttpApiGroup.make("feeds")
  .add(
    HttpApiEndpoint.get("businesses", "/v1/feeds/businesses")
      .setUrlParams(FeedQuery)
      .addSuccess(FeedPage)
      .addError(BadRequest)
      .addError(ChangesTokenExpired)
      .annotate(OpenApi.Summary, "Read the directory as a feed: everything once, then what changed")
      .annotate(
        OpenApi.Description,
        "Public, 300 requests a minute per IP address, together with the directory. Begin without `changes_token`, and " +
          "pass on the one that each page answers: while `hasMore` is true at once, afterwards whenever you want to know " +
          "what changed. A listing comes at most once a page, as it is now; one that was hidden, deleted, or withdrawn " +
          "from agents by its owner comes as `removed`. No change is missed and none comes out of order; one appears " +
          "when all transactions that were older have ended, which is mostly at once. Removals are known for 90 days; " +
          "a token from before, or from before the installation was restored from a backup, is 410 " +
          "`CHANGES_TOKEN_EXPIRED`: begin anew."
      )
  )
  .annotate(RouteTraits, { credential: "hub", rate: "directory", openToPages: true })
  .annotate(OpenApi.Title, "Feeds")
{}
