SELECT 1 / (id - 1) FROM item;
