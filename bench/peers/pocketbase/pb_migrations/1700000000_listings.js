/// <reference path="../pb_data/types.d.ts" />
// The same nine fields and the same two indexes as the other servers, open to all.
migrate((app) => {
  const text = (name) => ({ type: "text", name, required: true, max: 200 });
  const number = (name, onlyInt) => ({ type: "number", name, min: 0, onlyInt });
  app.save(new Collection({
    type: "base",
    name: "listings",
    listRule: "",
    viewRule: "",
    createRule: "",
    fields: [
      ...["listingId", "userId", "streetAddress", "city", "state", "postalCode"].map(text),
      number("monthlyRent", false),
      number("bedRoomCount", true),
      number("bathroomCount", true),
    ],
    indexes: [
      "CREATE UNIQUE INDEX `listings_listingId` ON `listings` (`listingId`)",
      "CREATE INDEX `listings_userId` ON `listings` (`userId`)",
    ],
  }));

  // No peer keeps request logs; PocketBase would write each one to a second database.
  const settings = app.settings();
  settings.logs.maxDays = 0;
  app.save(settings);

  // Without a superuser `serve` opens the installer in a browser. Nobody needs this one.
  const admin = new Record(app.findCollectionByNameOrId("_superusers"));
  admin.set("email", "bench@example.com");
  admin.set("password", $security.randomString(40));
  app.save(admin);
});
