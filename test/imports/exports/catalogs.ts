/** What an owner sells, as they think of it. */
export interface Article {
  readonly name: string
  readonly description: string
  /** In cents; null when there is none. */
  readonly price: number | null
  readonly category: string
}

export interface Owner {
  readonly who: string
  readonly articles: ReadonlyArray<Article>
}

const article = (name: string, price: number | null, category: string, description = ""): Article => ({
  name,
  description,
  price,
  category
})

export const bistro: Owner = {
  who: "bistro",
  articles: [
    article("Tomato soup", 750, "Starters", "Roasted tomatoes, basil and cream"),
    article("Caesar \"Royale\"", 1225, "Starters", "Romaine, egg; anchovies on request"),
    article("Steak frites", 2800, "Mains", "10 oz, with \"house\" fries"),
    article("Mac & cheese", 1450, "Mains"),
    article("Crème brûlée", 900, "Desserts", "Vanilla, burnt sugar"),
    article("Espresso", 325, "Drinks", "Single or double")
  ]
}

export const boutique: Owner = {
  who: "boutique",
  articles: [
    article("Linen shirt", 4800, "Clothing", "Relaxed fit\nSizes S to XL"),
    article("Wool socks", 1295, "Clothing", "One pair"),
    article("Ceramic mug, 12 oz", 1600, "Kitchen", "Dishwasher safe"),
    article("Walnut table", 124_950, "Furniture", "Seats six, 72\" long"),
    article("Gift card", 2500, "Gifts", "Valid for a year")
  ]
}

export const salon: Owner = {
  who: "salon",
  articles: [
    article("Women's cut", 6500, "Hair", "Wash, cut and blow-dry"),
    article("Balayage", 18_000, "Colour", "Three hours; patch test needed"),
    article("Gel manicure", 4250, "Nails"),
    article("Brow shaping", 2000, "Face", "Wax or thread")
  ]
}

export const kitchens = {
  german: {
    who: "Wirtshaus",
    articles: [
      article("Käsespätzle", 950, "Hauptgerichte", "Mit Röstzwiebeln und grünem Salat"),
      article("Gemüsesuppe", 590, "Vorspeisen", "Täglich frisch"),
      article("Schweinebraten für vier", 124_900, "Hauptgerichte", "Mit Knödeln, auf Bestellung"),
      article("Apfelstrudel", 650, "Süßes", "Warm, mit Vanilleeis")
    ]
  },
  french: {
    who: "brasserie",
    articles: [
      article("Soupe à l'oignon", 850, "Entrées", "Gratinée au fromage"),
      article("Bœuf bourguignon", 1900, "Plats", "Mijoté au vin rouge"),
      article("Crème brûlée", 750, "Desserts", "À la vanille")
    ]
  },
  polish: {
    who: "jadłodajnia",
    articles: [
      article("Żurek", 650, "Zupy", "Z kiełbasą i jajkiem"),
      article("Gołąbki", 900, "Dania główne", "W sosie pomidorowym"),
      article("Sernik", 500, "Słodkości", "Domowy, z rodzynkami")
    ]
  },
  russian: {
    who: "столовая",
    articles: [
      article("Борщ", 650, "Супы", "Со сметаной"),
      article("Пельмени", 900, "Горячее", "С говядиной"),
      article("Блины", 550, "Закуски", "С икрой")
    ]
  },
  japanese: {
    who: "食堂",
    articles: [
      article("ラーメン", 1150, "麺類", "豚骨スープ"),
      article("餃子", 600, "前菜", "六個入り"),
      article("本日の握り寿司", 2400, "主菜", "十貫")
    ]
  },
  chinese: {
    who: "饭店",
    articles: [
      article("宫保鸡丁", 1250, "主菜", "鸡肉和花生"),
      article("麻婆豆腐", 1050, "主菜", "四川风味"),
      article("春卷", 450, "前菜", "三个")
    ]
  }
} as const satisfies Record<string, Owner>
