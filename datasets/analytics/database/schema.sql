-- The warehouse of Fernhill Controls, a fictional maker of building sensors. Dates are ISO text,
-- amounts are USD, an empty field of a CSV file is NULL. Each table is filled from <table>.csv.
CREATE TABLE snapshot (
  taken_on TEXT NOT NULL -- the last day the data cover; "today" for every question
);
CREATE TABLE plans (
  plan TEXT PRIMARY KEY,
  monthly_price_usd REAL NOT NULL,
  included_seats INTEGER NOT NULL,
  support_level TEXT NOT NULL
);
CREATE TABLE products (
  product_id INTEGER PRIMARY KEY,
  product_name TEXT NOT NULL,
  family TEXT NOT NULL,
  list_price_usd REAL NOT NULL,
  unit_cost_usd REAL NOT NULL
);
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  customer_name TEXT NOT NULL,
  region TEXT NOT NULL,
  segment TEXT NOT NULL,
  industry TEXT NOT NULL,
  signed_up_on TEXT NOT NULL,
  contact_email TEXT NOT NULL
);
CREATE TABLE subscriptions (
  subscription_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  plan TEXT NOT NULL REFERENCES plans (plan),
  seats INTEGER NOT NULL,
  mrr_usd REAL NOT NULL,
  started_on TEXT NOT NULL,
  ended_on TEXT,
  churn_reason TEXT
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  product_id INTEGER NOT NULL REFERENCES products (product_id),
  quantity INTEGER NOT NULL,
  discount_pct REAL NOT NULL,
  amount_usd REAL NOT NULL, -- after discount
  ordered_on TEXT NOT NULL,
  order_status TEXT NOT NULL -- completed, refunded, cancelled
);
CREATE TABLE invoices (
  invoice_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  invoice_usd REAL NOT NULL,
  issued_on TEXT NOT NULL,
  due_on TEXT NOT NULL,
  paid_on TEXT
);
CREATE TABLE tickets (
  ticket_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  priority TEXT NOT NULL, -- P1 (urgent) to P4
  topic TEXT NOT NULL,
  opened_on TEXT NOT NULL,
  first_reply_minutes INTEGER NOT NULL,
  resolved_on TEXT,
  rating INTEGER -- 1 to 5, by the customer
);
