-- Tables, indexes, joins, aggregates, triggers, transactions, full text and errors, on data made without chance.
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);
CREATE TABLE purchase (
	id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer, item TEXT, price REAL, day INTEGER
);
CREATE TABLE audit (what TEXT, number INTEGER);
CREATE TRIGGER purchase_added AFTER INSERT ON purchase WHEN new.price > 90
BEGIN
	INSERT INTO audit VALUES ('expensive', new.id);
END;

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO customer SELECT i, printf('customer %03d', i * 7919 % 1000), 'town ' || (i % 17) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
INSERT INTO purchase SELECT i, i * 31 % 200 + 1, 'item ' || (i * 17 % 40), i * 37 % 1000 / 10.0, i % 365 FROM n;
COMMIT;

CREATE INDEX purchase_customer ON purchase (customer, day);
CREATE INDEX customer_town ON customer (town);
ANALYZE;

SELECT town, count(*), round(sum(price), 2) FROM customer JOIN purchase ON customer = customer.id
GROUP BY town ORDER BY 3 DESC LIMIT 5;
SELECT name FROM customer WHERE id IN (SELECT customer FROM purchase WHERE price > 95) ORDER BY name LIMIT 5;
SELECT item, max(price), rank() OVER (ORDER BY max(price) DESC) FROM purchase GROUP BY item ORDER BY 3, 1 LIMIT 5;
SELECT count(*) FROM audit;
EXPLAIN QUERY PLAN SELECT * FROM purchase WHERE customer = 7 AND day > 100;

BEGIN;
DELETE FROM purchase WHERE day < 200;
SELECT count(*) FROM purchase;
ROLLBACK;
UPDATE purchase SET price = price * 1.1 WHERE item LIKE 'item 1%';
SELECT round(total(price), 2) FROM purchase;
INSERT INTO customer VALUES (1, 'a second one', NULL);

CREATE VIRTUAL TABLE note USING fts5(body);
INSERT INTO note SELECT item || ' bought on day ' || day FROM purchase LIMIT 200;
SELECT count(*) FROM note WHERE note MATCH 'day AND 3*';
DROP TABLE audit;
VACUUM;
PRAGMA integrity_check;
