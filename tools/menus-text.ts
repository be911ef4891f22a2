import { lineOf } from "#src/shared/outside-text.ts"
import { type Menus } from "#src/syndication/PublicBusiness.ts"

type Menu = (typeof Menus.Encoded)["menus"][number]

const longestDescription = 160

const menuText = ({ name, omittedItems, pageUrl, sections, slug, status }: Menu) => {
  if (status === "not_found") return `${slug}: no such business`
  if (status === "no_menu") return `${lineOf(name, 200)} (${slug}): nothing is listed; ${pageUrl}`
  return [
    `${lineOf(name, 200)} (${slug}), ${pageUrl}`,
    ...sections.flatMap((section) => [
      `${lineOf(section.name, 200)}:`,
      ...section.items.map(({ description, name, price }) =>
        `- ${lineOf(name, 200)}, ${price}${description === "" ? "" : `: ${lineOf(description, longestDescription)}`}`
      )
    ]),
    ...(omittedItems === 0 ? [] : [`${omittedItems} more: ask for fewer businesses, or see the page`])
  ].join("\n")
}

/** Menus as a reader compares them: a line an item, with its price. */
export const menusText = ({ menus }: typeof Menus.Encoded) => menus.map(menuText).join("\n\n")
