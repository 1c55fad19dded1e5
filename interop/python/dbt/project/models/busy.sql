{{ config(materialized='table') }}
select c.category, c.title, count(*) as items, sum(i.price) as price, max(i.at) as latest
from {{ source('lake', 'item') }} i
join {{ ref('categories') }} c on c.category = i.id % 3
group by c.category, c.title
